import CUndead
import UndeadReport

/// One look for leaks, and what is made of it.
///
/// Only one at a time: what it holds of addresses would hide leaks from another one.
enum LeakSearch {
  /// Finds what leaked, and hands the snapshot to `work`, on another thread, while the caller waits.
  static func run<Value: Sendable>(
    _ instrument: Instrument, _ work: @escaping @Sendable (borrowing Snapshot) -> Value
  ) throws(UndeadError) -> Value {
    undead_clear_stack()
    undead_lock_checks()
    defer { undead_unlock_checks() }
    // Asked for by the caller's own thread, of whose frames the scan then skips those of the question.
    let decode = try instrument.look()
    return try OwnThread.run { AllocationScope.outsideOfAll { evaluate(decode, work) } }.get()
  }

  /// The same while the task is suspended: its last frames are gone from every stack.
  static nonisolated(nonsending) func run<Value: Sendable>(
    _ instrument: Instrument,
    _ work: @escaping @Sendable (borrowing Snapshot) -> Value
  ) async throws(UndeadError) -> Value {
    try await OwnThread.run {
      AllocationScope.outsideOfAll {
        undead_lock_checks()
        defer { undead_unlock_checks() }
        return Result { () throws(UndeadError) in try instrument.look() }.flatMap { evaluate($0, work) }
      }
    }.get()
  }

  private static func evaluate<Value>(
    _ decode: () throws -> Snapshot, _ work: (borrowing Snapshot) -> Value
  ) -> Result<Value, UndeadError> {
    do {
      return .success(work(try decode()))
    } catch {
      return .failure(UndeadError("the instrument made a snapshot that cannot be read: \(error)"))
    }
  }
}
