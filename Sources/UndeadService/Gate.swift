import Undead
import UndeadSystem

/// Lets one look at the process at a time, with a pause between two; those who come meanwhile wait for their turn, but
/// not for long.
final class Gate: Sendable {
  /// Why there is no turn.
  enum Refusal: Error, Equatable {
    /// Too many look or wait already.
    case busy(retryAfter: Int)
    /// The last look was a moment ago.
    case tooOften(retryAfter: Int)
  }

  private struct Waiter {
    var number: Int
    var turn: CheckedContinuation<Bool, Never>
  }

  private struct State {
    var isTaken = false
    var waiters: [Waiter] = []
    var next = 0
    var lastEnd: ContinuousClock.Instant?
    var looks = 0
    /// Those that are asking for a turn, and of them those that no longer want it.
    var entering: Set<Int> = []
    var gaveUp: Set<Int> = []
  }

  private let state = Mutex(State())
  private let pause: Duration
  private let patience: Duration
  private let mostWaiting: Int

  /// - Parameters:
  ///   - pause: from the end of a look to the start of the next one, at least.
  ///   - patience: how long a request waits for its turn.
  ///   - mostWaiting: requests that wait.
  init(pause: Duration, patience: Duration, mostWaiting: Int) {
    self.pause = pause
    self.patience = patience
    self.mostWaiting = mostWaiting
  }

  /// Does the work when it is its turn, on a thread made for it.
  ///
  /// - Throws: ``Refusal``; `CancellationError` if the task was cancelled while it waited; what the work throws.
  func look<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await enter()
    defer { leave() }
    try await keepPause()
    defer {
      state.withLock { state in
        state.lastEnd = .now
        state.looks += 1
      }
    }
    return try await OwnThread.run { Result(catching: work) }.get()
  }

  private func enter() async throws {
    let number = state.withLock { state in
      state.next += 1
      state.entering.insert(state.next)
      return state.next
    }
    let timer = Task { [weak self, patience] in
      try await Task.sleep(for: patience)
      self?.giveUp(number)
    }
    defer { timer.cancel() }
    let hasTurn = await withTaskCancellationHandler {
      await withCheckedContinuation { turn in enqueue(Waiter(number: number, turn: turn)) }
    } onCancel: {
      giveUp(number)
    }
    state.withLock { state in
      state.entering.remove(number)
      state.gaveUp.remove(number)
    }
    if Task.isCancelled {
      if hasTurn { leave() }
      throw CancellationError()
    }
    guard hasTurn else { throw Refusal.busy(retryAfter: Self.seconds(patience)) }
  }

  private func enqueue(_ waiter: Waiter) {
    let answer: Bool? = state.withLock { state in
      if state.gaveUp.contains(waiter.number) { return false }
      if !state.isTaken {
        state.isTaken = true
        return true
      }
      guard state.waiters.count < mostWaiting else { return false }
      state.waiters.append(waiter)
      return nil
    }
    if let answer { waiter.turn.resume(returning: answer) }
  }

  private func giveUp(_ number: Int) {
    let waiter: Waiter? = state.withLock { state in
      guard let place = state.waiters.firstIndex(where: { $0.number == number }) else {
        // It may be about to wait.
        if state.entering.contains(number) { state.gaveUp.insert(number) }
        return nil
      }
      return state.waiters.remove(at: place)
    }
    waiter?.turn.resume(returning: false)
  }

  private func leave() {
    let next: Waiter? = state.withLock { state in
      guard !state.waiters.isEmpty else {
        state.isTaken = false
        return nil
      }
      return state.waiters.removeFirst()
    }
    next?.turn.resume(returning: true)
  }

  /// Waits until the pause after the last look is over.
  private func keepPause() async throws {
    guard let last = state.withLock({ $0.lastEnd }) else { return }
    let rest = pause - (ContinuousClock.now - last)
    guard rest > .zero else { return }
    guard rest <= patience else { throw Refusal.tooOften(retryAfter: Self.seconds(rest)) }
    try await Task.sleep(for: rest)
  }

  private static func seconds(_ duration: Duration) -> Int { max(1, Int(duration.components.seconds)) }

  /// How many looks are over.
  var looks: Int { state.withLock { $0.looks } }

  /// How many wait.
  var waiting: Int { state.withLock { $0.waiters.count } }
}
