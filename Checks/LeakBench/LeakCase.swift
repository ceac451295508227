// What all cases of the bench share. A case is a small program in an enum of its own: `run` does what a program would do in
// `rounds` rounds and returns. Everything that a case makes and does not keep on purpose must be deallocated by then. The
// condition FIXED builds the same program with the fix. `scripts/measure/leak-bench` reads the line `// expect:` of each file.

import Dispatch

/// A leak of a real package, rebuilt.
protocol LeakCase {
  static func run(rounds: Int)
}

/// Runs asynchronous code on the global executor and waits until it returns.
func runBlocking(_ body: @escaping @Sendable () async -> Void) {
  let finished = DispatchSemaphore(value: 0)
  Task.detached {
    await body()
    finished.signal()
  }
  finished.wait()
}

/// Lets the other tasks get as far as they can: returns as soon as `isDone` says so.
func waitUntil(_ isDone: () -> Bool) async {
  while !isDone() { await Task.yield() }
}
