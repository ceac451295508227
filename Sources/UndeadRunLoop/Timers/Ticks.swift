#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
extension TrackedTimer {
  /// One tick of ``TrackedRunLoop/ticks(every:tolerance:mode:)``.
  public struct Tick: Sendable, Hashable {
    /// Counts from 1.
    public let number: Int
    /// How many ticks before this one were skipped because their time had passed, since the beginning.
    public let missed: Int
  }
}

extension TrackedRunLoop {
  /// The ticks of a repeating timer of this loop as a sequence. The timer ends when the loop over it does, and the sequence
  /// ends with this loop.
  ///
  /// A consumer that is slower than the timer gets the newest tick.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  public func ticks(
    every interval: Duration, tolerance: Duration = .zero, mode: Mode = .default
  ) throws(RunLoopError) -> AsyncStream<TrackedTimer.Tick> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TrackedTimer.Tick.self, bufferingPolicy: .bufferingNewest(1))
    let sequence = TickSequence(continuation)
    let timer = try TrackedTimer(after: interval, repeats: true) { timer in
      sequence.yield(.init(number: timer.firings, missed: timer.missedFirings))
    }
    timer.name = "ticks"
    timer.tolerance = tolerance
    // Weak: the loop keeps the timer, which keeps the sequence.
    continuation.onTermination = { [weak timer] _ in timer?.invalidate() }
    _ = try start(timer, mode)
    return stream
  }
}

/// Ends a sequence of ticks when nobody will tick any more: the timer's block is the only one that holds it.
private final class TickSequence: Sendable {
  private let continuation: AsyncStream<TrackedTimer.Tick>.Continuation

  init(_ continuation: AsyncStream<TrackedTimer.Tick>.Continuation) { self.continuation = continuation }

  deinit { continuation.finish() }

  func yield(_ tick: TrackedTimer.Tick) { continuation.yield(tick) }
}
#endif
