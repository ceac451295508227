/// A run loop to compare.
protocol Peer: Sendable {
  var name: String { get }
  /// Schedules `count` timers far in the future, then cancels each. Returns nanoseconds.
  func scheduleAndCancel(_ count: Int) -> Int64
  /// The same from a thread that is not the loop's.
  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64?
  /// Schedules `count` timers that are due at once and lets them fire. Returns nanoseconds.
  func scheduleAndFire(_ count: Int) -> Int64
  /// Lets `count` timers of one interval tick, with their phases spread over it.
  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog)
}
