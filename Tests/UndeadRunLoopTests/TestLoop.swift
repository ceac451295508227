import Synchronization
import Testing
import UndeadRunLoopTesting

@testable import UndeadRunLoop

typealias TestLoop = UndeadRunLoopTesting.TestLoop

/// Shorter forms, in seconds.
extension TestLoop {
  /// Seconds since the start, to the millisecond.
  var time: Double { (Double(clock.now) / 1e6).rounded() / 1000 }

  @discardableResult
  func run(_ mode: TrackedRunLoop.Mode = .default, seconds: Double) -> TrackedRunLoop.RunResult {
    loop.run(mode: mode, for: .milliseconds(Int(seconds * 1000)))
  }
}

/// An object that says when it dies.
final class Witness: Sendable {
  let onDeath: @Sendable () -> Void
  let ticks = Atomic(0)

  init(_ onDeath: @escaping @Sendable () -> Void = {}) { self.onDeath = onDeath }

  deinit { onDeath() }

  func tick() { ticks.add(1, ordering: .relaxed) }
}

/// A counter that callbacks may share.
final class Counter: Sendable {
  private let value = Atomic(0)

  @discardableResult
  func up() -> Int { value.add(1, ordering: .sequentiallyConsistent).newValue }

  var count: Int { value.load(ordering: .sequentiallyConsistent) }
}
