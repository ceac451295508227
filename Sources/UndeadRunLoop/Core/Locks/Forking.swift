#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

/// A child has only the thread that forked: a lock that another one held would stay held in it for ever, and what it guards
/// half changed. So a fork takes them all.
enum Forking {
  /// A holder may have been interrupted for good, and the program must get its child.
  private static let patience: Int64 = 100_000_000
  nonisolated(unsafe) private static let gate = LoopLock()
  // Guarded by `gate`.
  nonisolated(unsafe) private static var taken: [LoopLock] = []
  nonisolated(unsafe) private static var missed: [LoopLock] = []

  private static let handlers: Void = undead_loop_at_fork(
    { Forking.takeLocks() }, { Forking.giveLocksBack() }, { Forking.giveLocksBackInChild() })

  static func prepare() { handlers }

  private static func takeLocks() {
    gate.lock()
    let end = undead_loop_monotonic() + patience
    func take(_ lock: LoopLock) {
      if lock.tryLock(for: end - undead_loop_monotonic()) { taken.append(lock) } else { missed.append(lock) }
    }
    // A loop's before those that are taken under it.
    for core in LoopStatePool.all {
      take(core.lockForForks)
      take(core.inbox.lock)
    }
    for lock in [
      LoopStatePool.lockForForks, LoopRegistry.shared.lockForForks, ModeTable.lockForForks, Diagnostics.state.lock,
    ] { take(lock) }
  }

  private static func giveLocksBack() {
    for lock in taken.reversed() { lock.unlock() }
    taken.removeAll(keepingCapacity: true)
    missed.removeAll(keepingCapacity: true)
    gate.unlock()
  }

  private static func giveLocksBackInChild() {
    // Nobody is there who would.
    for lock in missed { lock.unlock() }
    giveLocksBack()
  }
}
#endif
