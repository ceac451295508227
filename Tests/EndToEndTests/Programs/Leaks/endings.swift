// However the program ends, the report is made first, and the program's own status wins over that of the finding. What main left on
// the stack lies below the frames of exit(), while one of its handlers calls exit() again. Of a program that replaces itself only the
// last image is asked for leaks.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=5
// CASE exit-status-is-kept
// ARGS exit
// EXPECT exit 3
// CASE exit-from-thread
// ARGS thread
// EXPECT exit 7
// CASE ended-by-sigterm
// ARGS signal
// EXPECT signal 15
// CASE main-thread-ends-first
// ARGS last
// CASE handler-of-a-signal-exits
// ARGS alarm
// CASE exit-handler-calls-exit
// ARGS handler
// EXPECT exit 5
// CASE every-thread-exits
// ARGS threads
// CASE exec-self
// ARGS again
import Foundation

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
for _ in 0..<5 { make() }
switch CommandLine.arguments[1] {
case "exit": exit(3)
case "thread":
  Thread { exit(7) }.start()
  sleep(100)
case "signal":
  kill(getpid(), SIGTERM)
  sleep(100)
case "alarm":
  // What main left on the stack lies beyond the signal's frame.
  signal(SIGALRM) { _ in exit(0) }
  ualarm(400_000, 0)
  while true { sleep(1) }
case "handler": atexit { exit(5) }
case "threads":
  for _ in 0..<12 {
    Thread.detachNewThread {
      usleep(1000)
      exit(0)
    }
  }
  while true { sleep(1) }
case "again":
  let arguments = CommandLine.arguments + ["again"]
  print("image", arguments.count)
  fflush(stdout)
  if arguments.count < 5 { execv("/proc/self/exe", arguments.map { strdup($0) } + [nil]) }
default:
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { _ in
      usleep(100_000)
      return nil
    }, nil)
  pthread_exit(nil)
}
