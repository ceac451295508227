// What daemons do to themselves, or have done to them, before they end: the check takes what it needs.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
// CASE blocks-all-signals
// ARGS signals
// CASE changed-user
// ARGS user
// CASE closes-everything
// ARGS descriptors
// CASE limits-everything
// ARGS limits
// CASE empty-environment
// ARGS nothing
// SHELL exec env -i $RUN
import Glibc

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}

@_silgen_name("prctl") func control(_ option: Int32, _ value: UInt) -> Int32

/// Every signal is blocked in every thread, and ptrace is denied to others.
func blockSignals() {
  let setDumpable: Int32 = 4
  _ = control(setDumpable, 0)
  var mask = sigset_t()
  sigfillset(&mask)
  pthread_sigmask(SIG_SETMASK, &mask, nil)
  for _ in 0..<3 {
    var thread = pthread_t()
    pthread_create(&thread, nil, { _ in while true { sleep(1) } }, nil)
  }
}

/// No process, file, descriptor, or byte of a file more than it has.
func limitItself() {
  for resource: Int32 in [1, 6, 7, 11] {  // RLIMIT_FSIZE, NPROC, NOFILE, SIGPENDING
    var limit = rlimit()
    getrlimit(resource, &limit)
    limit.rlim_cur = resource == 1 ? 4096 : 0
    print(setrlimit(resource, &limit))
  }
  print(open("/dev/null", O_RDONLY), errno == EMFILE)
}

/// The new user may leave its snapshot in the session of the old one.
func changeUser() {
  if getuid() == 0 {
    setgid(65_534)
    setuid(65_534)
  }
  print(open("/etc/shadow", O_RDONLY) < 0)
}

print("begin")
for _ in 0..<2 { make() }
switch CommandLine.arguments[1] {
case "signals": blockSignals()
case "user": changeUser()
case "descriptors": for descriptor in 0..<1024 { close(Int32(descriptor)) }
case "limits": limitItself()
default: break
}
print("nobody hears this if its output is closed")
