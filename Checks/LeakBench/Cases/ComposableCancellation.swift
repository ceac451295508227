// source: pointfreeco/swift-composable-architecture bc6f87dc44 (#1418)
// A global dictionary of running effects lost its entry when an effect was cancelled, but not when it ended. The fix
// removes the entry in both cases.
// expect: growth Cancellable via running

import Dispatch

enum ComposableCancellation: LeakCase {
  final class Cancellable: Sendable {
    let cancel: @Sendable () -> Void
    init(_ cancel: @escaping @Sendable () -> Void) { self.cancel = cancel }
  }

  static let lock = DispatchQueue(label: "running")
  nonisolated(unsafe) static var running: [Int: [Cancellable]] = [:]

  static func withCancellation(id: Int, _ operation: @escaping @Sendable () async -> Int) async -> Int {
    let task = Task { await operation() }
    let cancellable = Cancellable { task.cancel() }
    lock.sync { running[id, default: []].append(cancellable) }
    #if FIXED
      defer { lock.sync { running[id] = nil } }
    #endif
    return await task.value
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking {
      for round in 0..<rounds { _ = await withCancellation(id: round) { round + 1 } }
    }
  }
}
