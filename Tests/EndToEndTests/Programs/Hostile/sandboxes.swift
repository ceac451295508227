// Programs that shut themselves in, as servers do, or are shut in. Those that are cannot be checked, and the report says so.
// HEADER ../Support/sandbox.h
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
@_silgen_name("fork") func makeCopy() -> pid_t
@_silgen_name("syscall") func systemCall(_ number: Int, _ first: UInt, _ second: UInt, _ third: UInt) -> Int

// The program asks whether there are sandboxes, as libseccomp does, and fails to make one: nothing changes.
// CASE sandbox-tried-out
// ARGS tried-out
// EXPECT leak kind=retainCycle types=App.Node fields=next count=3
func tryOut() {
  for _ in 0..<2 { make() }
  print(set_filter_by_system_call(UInt32(SECCOMP_FILTER_FLAG_TSYNC), nil), errno == EFAULT)
  print(set_filter(nil), errno == EFAULT)
  print(set_filter(UnsafePointer(bitPattern: 16)), errno == EFAULT)
  make()
}

// The program allows itself to read, write and exit.
// CASE strict-sandbox
// ARGS strict
// EXPECT unchecked
func beStrict() {
  var nodes = (0..<1000).map { _ in Node() }
  print(nodes.count)
  fflush(stdout)
  _ = set_strict_mode()
  nodes.removeLast(500)
  nodes.append(Node())
  _ = write(1, "strict\n", 7)
  _ = systemCall(60, 0, 0, 0)
}

// A server starts a worker in a sandbox, as sshd does: the worker cannot be checked.
// CASE sandboxed-worker
// ARGS worker
// EXPECT unchecked
func startWorker() {
  print("begin")
  fflush(stdout)
  let worker = makeCopy()
  if worker == 0 {
    renounce_privileges()
    _ = set_filter(narrow_filter(nil, 0, kill_process))
    for _ in 0..<3 { make() }
    exit(7)
  }
  var status: Int32 = 0
  waitpid(worker, &status, 0)
  print(status >> 8)
  for _ in 0..<2 { make() }
}

// The program is started in a sandbox that allows all but tracing, or in one that allows the loader to work, and not more.
// CASE sandbox-by-launcher
// ARGS launcher
// EXPECT unchecked
// CASE narrow-sandbox-by-launcher
// ARGS narrow-launcher
// EXPECT unchecked
func launch(_ filter: UnsafePointer<sock_fprog>?) {
  if CommandLine.arguments.last != "again" {
    renounce_privileges()
    print(set_filter(filter))
    fflush(stdout)
    let arguments = [CommandLine.unsafeArgv[0], CommandLine.unsafeArgv[1], strdup("again"), nil]
    execv("/proc/self/exe", arguments)
  }
  for _ in 0..<2 { make() }
  print("again")
}
let forStart: [UInt32] = [
  2, 4, 8, 13, 14, 16, 17, 21, 39, 59, 79, 89, 97, 131, 158, 186, 204, 218, 228, 257, 262, 273, 302, 318, 332, 334,
]

// The program allows itself a dozen system calls, and then works on. The others, also getpid and clock_gettime, fail with
// EPERM, end it, or are trapped: its handler for them must never run. Or it forbids itself only to trace others: what else its
// filter forbids is not known.
// CASE sandbox-that-fails
// ARGS fails
// EXPECT unchecked
// CASE sandbox-that-kills
// ARGS kills
// EXPECT unchecked
// CASE sandbox-that-traps
// ARGS traps
// EXPECT unchecked
// CASE seccomp-filter
// ARGS untraced
// EXPECT unchecked
func shutIn(_ setFilter: () -> Int) {
  for _ in 0..<2 { make() }
  print("begin")
  renounce_privileges()
  print(setFilter())
  var nodes = (0..<20_000).map { _ in Node() }
  nodes.removeAll { _ in true }
  make()
  print(nodes.count)
}
func handleTraps() {
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in
    _ = write(1, "trapped\n", 8)
    _exit(9)
  }
  sigaction(SIGSYS, &action, nil)
  signal(SIGTERM, SIG_DFL)
}

switch CommandLine.arguments[1] {
case "tried-out": tryOut()
case "strict": beStrict()
case "worker": startWorker()
case "launcher": launch(filter_against(UInt32(SYS_ptrace)))
case "narrow-launcher": launch(narrow_filter(forStart, forStart.count, kill_process))
case "fails": shutIn { set_filter_by_system_call(0, narrow_filter(nil, 0, fail)) }
case "kills": shutIn { Int(set_filter(narrow_filter(nil, 0, kill_process))) }
case "traps":
  handleTraps()
  shutIn { set_filter_by_system_call(UInt32(SECCOMP_FILTER_FLAG_TSYNC), narrow_filter(nil, 0, trap)) }
default: shutIn { Int(set_filter(filter_against(UInt32(SYS_ptrace)))) }
}
