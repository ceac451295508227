// A forked child that ends by exit runs its handlers; its leaks are not the parent's.
// EXPECT silent
import Glibc

@_silgen_name("fork") func forkProcess() -> Int32

atexit { print("handler") }
setvbuf(stdout, nil, _IONBF, 0)
let child = forkProcess()
if child == 0 {
  print("child")
  exit(4)
}
var status: Int32 = 0
waitpid(child, &status, 0)
print("parent", status >> 8)
