// Ends that no check comes before: the program ends as without the tool.
// EXPECT unchecked
import Glibc

// It aborts; the tool passes the signal on.
// CASE abort
// ARGS abort
// EXPECT signal 6

// `_exit` has the program's own status.
// CASE immediate-exit
// ARGS exit
// EXPECT exit 3

// Endless recursion.
// CASE stack-overflow
// ARGS recursion
// EXPECT signal 11
@inline(never) @_optimize(none) func recurse(_ depth: Int) -> Int {
  recurse(depth + 1) + depth
}

// An error that nobody catches is a trap.
// CASE uncaught-error
// ARGS error
// EXPECT signal 4
struct Failure: Error {}

// exit() is called where the loader's lock is held.
// CASE exit-in-a-walk-over-libraries
// ARGS walk
// EXPECT exit 8
typealias Visitor = @convention(c) (UnsafeMutableRawPointer?, Int, UnsafeMutableRawPointer?) -> Int32
@_silgen_name("dl_iterate_phdr") func forEachLibrary(_ visit: Visitor, _ context: UnsafeMutableRawPointer?) -> Int32

var limits = rlimit(rlim_cur: 0, rlim_max: 0)
setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limits)
let kept = [[1], [2]]
print("before")
fflush(stdout)
switch CommandLine.arguments[1] {
case "abort": abort()
case "exit": _exit(3)
case "recursion": print(recurse(0))
case "error": throw Failure()
default: _ = forEachLibrary({ _, _, _ in exit(8) }, nil)
}
print(kept)
