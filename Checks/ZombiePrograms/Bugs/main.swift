// Bugs as people write them, for scripts/check/zombie-programs: `bugs list`; `bugs NAME` does one of them once.
//
// A line `// BUG NAME kind=... type=... [member=...] [operation=...]` says what is to be reported (alternatives joined by `|`); the lines
// of its three backtraces end with `// used NAME`, `// freed NAME` and `// allocated NAME`.
import Glibc

let bugs: [(name: String, run: () -> Void)] = handlers + pointers + counts

let words = CommandLine.arguments
if words.count == 2, words[1] == "list" {
  for bug in bugs { print(bug.name) }
} else if words.count == 2, let bug = bugs.first(where: { $0.name == words[1] }) {
  bug.run()
  print("still here")
} else {
  print("bugs list | bugs NAME")
  exit(64)
}

nonisolated(unsafe) var sink = 0
/// What is not optimised away.
@inline(never) @_optimize(none) func use(_ number: Int) { sink &+= number }
@inline(never) @_optimize(none) func opaque<T>(_ value: T) -> T { value }

/// Runs `body` on a thread of its own, to its end.
func onThread(_ body: @escaping () -> Void) {
  final class Start {
    let body: () -> Void
    init(_ body: @escaping () -> Void) { self.body = body }
  }
  var thread = pthread_t()
  pthread_create(
    &thread, nil,
    { context in
      Unmanaged<Start>.fromOpaque(context!).takeRetainedValue().body()
      return nil
    }, Unmanaged.passRetained(Start(body)).toOpaque())
  pthread_join(thread, nil)
}
