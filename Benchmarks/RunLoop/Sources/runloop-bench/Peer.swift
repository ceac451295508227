/// A run loop to compare.
protocol Peer: Sendable {
  var name: String { get }
  /// Schedules `count` timers far in the future, then cancels each. Returns nanoseconds.
  func scheduleAndCancel(_ count: Int) -> Int64
  /// The same with one date for each of `delays` (nanoseconds, far in the future), cancelled in the order of `order`.
  func scheduleAndCancel(delays: [Int64], order: [Int]) -> Int64?
  /// The same from a thread that is not the loop's.
  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64?
  /// Schedules `count` timers that are due at once and lets them fire. Returns nanoseconds.
  func scheduleAndFire(_ count: Int) -> Int64
  /// The same after one timer that is due much later.
  func scheduleAndFireAfterFarTimer(_ count: Int) -> Int64?
  /// The same, scheduled by a thread that is not the loop's.
  func scheduleAndFireFromAnotherThread(_ count: Int) -> Int64?
  /// Schedules one timer for each of `delays` (nanoseconds) and lets them fire. Returns the nanoseconds that it cost: the
  /// scheduling, and the firing once all are due; nil where the two cannot be distinguished from waiting.
  func scheduleAndFire(delays: [Int64]) -> Int64?
  /// Lets `count` timers of one interval tick, with their phases spread over it.
  /// Returns the fires that it counted as missed, nil if it counts none.
  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int?
}

extension Peer {
  func scheduleAndCancel(delays: [Int64], order: [Int]) -> Int64? { nil }
  func scheduleAndFireAfterFarTimer(_ count: Int) -> Int64? { nil }
  func scheduleAndFireFromAnotherThread(_ count: Int) -> Int64? { nil }
  func scheduleAndFire(delays: [Int64]) -> Int64? { nil }
}
