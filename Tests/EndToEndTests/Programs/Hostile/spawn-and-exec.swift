// posix_spawn, vfork and exec, system and popen; the children see a clean world.
// EXPECT any
// EXPECT exit 8
import Glibc

@_silgen_name("vfork") func vforkProcess() -> Int32

func wait(_ child: pid_t) -> Int32 {
  var status: Int32 = 0
  waitpid(child, &status, 0)
  return status >> 8
}
setvbuf(stdout, nil, _IONBF, 0)
var arguments: [UnsafeMutablePointer<CChar>?] = [strdup("sh"), strdup("-c"), strdup("echo spawned; exit 5"), nil]
for _ in 0..<5 {
  var child = pid_t()
  posix_spawn(&child, "/bin/sh", nil, nil, arguments, environ)
  print(wait(child))
}
for _ in 0..<5 {
  let child = vforkProcess()
  if child == 0 {
    execv("/bin/sh", arguments)
    _exit(1)
  }
  print(wait(child))
}
print(system("exit 6") >> 8)
if let stream = popen("echo from popen", "r") {
  var buffer = [CChar](repeating: 0, count: 100)
  fgets(&buffer, 100, stream)
  print(String(cString: buffer), pclose(stream))
}
arguments[2] = strdup("echo replaced; exit 8")
execv("/bin/sh", arguments)
