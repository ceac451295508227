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
  /// The ticks of a repeating timer of this loop as a sequence. The timer ends when the loop over it does.
  ///
  /// A consumer that is slower than the timer gets the newest tick.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  public func ticks(
    every seconds: Double, tolerance: Double = 0, mode: Mode = .default
  ) throws(RunLoopError) -> AsyncStream<TrackedTimer.Tick> {
    let (stream, continuation) = AsyncStream.makeStream(
      of: TrackedTimer.Tick.self, bufferingPolicy: .bufferingNewest(1))
    let timer = try TrackedTimer(timeInterval: seconds, repeats: true) { timer in
      continuation.yield(.init(number: timer.firings, missed: timer.missedFirings))
    }
    timer.name = "ticks"
    timer.tolerance = tolerance
    continuation.onTermination = { _ in timer.invalidate() }
    _ = try start(timer, mode)
    return stream
  }
}
