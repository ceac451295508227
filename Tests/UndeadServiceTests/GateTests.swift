import Foundation
import Synchronization
import Testing

@testable import UndeadService

/// One at a time, not too often, and nobody waits for ever.
@Suite(.timeLimit(.minutes(20))) struct GateTests {
  /// Holds the gate until it is asked to let go.
  private func hold(_ gate: Gate) async -> (release: @Sendable () -> Void, done: Task<Void, any Error>) {
    let semaphore = DispatchSemaphore(value: 0)
    let entered = AsyncStream<Void>.makeStream()
    let task = Task {
      try await gate.look {
        entered.continuation.yield()
        semaphore.wait()
      }
    }
    var started = entered.stream.makeAsyncIterator()
    await started.next()
    return ({ semaphore.signal() }, task)
  }

  private func waitUntil(_ condition: () -> Bool) async throws {
    while !condition() { try await Task.sleep(for: .milliseconds(2)) }
  }

  private final class Counter: Sendable {
    let value = Atomic(0)
  }

  @Test func oneAtATime() async throws {
    let gate = Gate(pause: .zero, patience: .seconds(3600), mostWaiting: 100)
    let inside = Counter()
    try await withThrowingTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          try await gate.look {
            #expect(inside.value.add(1, ordering: .relaxed).newValue == 1)
            usleep(200)
            inside.value.subtract(1, ordering: .relaxed)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(gate.waiting == 0)
  }

  @Test func whoCannotWaitIsRefused() async throws {
    let gate = Gate(pause: .zero, patience: .milliseconds(20), mostWaiting: 8)
    let holder = await hold(gate)
    await #expect(throws: Gate.Refusal.busy(retryAfter: 1)) { try await gate.look {} }
    #expect(gate.waiting == 0)
    holder.release()
    try await holder.done.value
    try await gate.look {}
  }

  @Test func tooManyAreRefusedAtOnce() async throws {
    let gate = Gate(pause: .zero, patience: .seconds(3600), mostWaiting: 1)
    let holder = await hold(gate)
    let second = Task { try await gate.look {} }
    try await waitUntil { gate.waiting == 1 }
    await #expect(throws: Gate.Refusal.busy(retryAfter: 3600)) { try await gate.look {} }
    holder.release()
    try await holder.done.value
    try await second.value
  }

  @Test func whoIsCancelledLeavesTheQueue() async throws {
    let gate = Gate(pause: .zero, patience: .seconds(3600), mostWaiting: 8)
    let holder = await hold(gate)
    let waiting = Task { try await gate.look {} }
    try await waitUntil { gate.waiting == 1 }
    waiting.cancel()
    await #expect(throws: CancellationError.self) { try await waiting.value }
    #expect(gate.waiting == 0)
    let late = Task { try await gate.look {} }
    late.cancel()
    await #expect(throws: CancellationError.self) { try await late.value }
    holder.release()
    try await holder.done.value
    try await gate.look {}
  }

  @Test func aPauseIsKept() async throws {
    let gate = Gate(pause: .milliseconds(150), patience: .seconds(3600), mostWaiting: 8)
    try await gate.look {}
    let start = ContinuousClock.now
    try await gate.look {}
    #expect(ContinuousClock.now - start >= .milliseconds(140))
    let impatient = Gate(pause: .seconds(100_000), patience: .milliseconds(10), mostWaiting: 8)
    try await impatient.look {}
    await #expect {
      try await impatient.look {}
    } throws: { error in
      if case Gate.Refusal.tooOften(let seconds)? = error as? Gate.Refusal {
        (90_000...100_000).contains(seconds)
      } else {
        false
      }
    }
    // Whoever is refused makes the pause no longer.
    await #expect(throws: Gate.Refusal.self) { try await impatient.look {} }
  }

  @Test func whatTheWorkThrowsOpensTheGate() async throws {
    let gate = Gate(pause: .zero, patience: .seconds(3600), mostWaiting: 8)
    await #expect(throws: UndeadServiceError.self) { try await gate.look { throw UndeadServiceError("no") } }
    try await gate.look {}
  }
}
