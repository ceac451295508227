#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// A task that waits, until exactly one of three things happens: it is time, the task is cancelled, or what was to wake it
/// ends.
final class TaskSleep: Sendable {
  private struct State {
    var continuation: CheckedContinuation<Void, any Error>?
    var outcome: Result<Void, any Error>?
    var undo: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// Suspends the calling task.
  ///
  /// - Parameter begin: arranges a later call of ``finish(_:)``, and returns how to take that back, which is done if the
  ///   task is cancelled.
  /// - Throws: `CancellationError`, or what `finish` was given.
  static func suspend(_ begin: (TaskSleep) -> @Sendable () -> Void) async throws {
    try Task.checkCancellation()
    let sleep = TaskSleep()
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        guard sleep.hold(continuation) else { return }
        sleep.keep(begin(sleep))
      }
    } onCancel: {
      sleep.finish(.failure(CancellationError()))
    }
  }

  /// The wait is over. Only the first call counts.
  func finish(_ outcome: Result<Void, any Error> = .success(())) {
    let (continuation, undo) = state.withLock {
      state -> (CheckedContinuation<Void, any Error>?, (@Sendable () -> Void)?) in
      guard state.outcome == nil else { return (nil, nil) }
      state.outcome = outcome
      defer { (state.continuation, state.undo) = (nil, nil) }
      return (state.continuation, state.undo)
    }
    if case .failure = outcome { undo?() }
    continuation?.resume(with: outcome)
  }

  /// False if the wait is over already.
  private func hold(_ continuation: CheckedContinuation<Void, any Error>) -> Bool {
    let outcome = state.withLock { state in
      if state.outcome == nil { state.continuation = continuation }
      return state.outcome
    }
    if let outcome { continuation.resume(with: outcome) }
    return outcome == nil
  }

  private func keep(_ undo: @escaping @Sendable () -> Void) {
    let isOver = state.withLock { state in
      if state.outcome == nil { state.undo = undo }
      return state.outcome != nil
    }
    // Whoever finished it early did not know how to take it back.
    if isOver { undo() }
  }
}
#endif
