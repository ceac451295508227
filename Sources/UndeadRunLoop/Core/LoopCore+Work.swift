#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// Blocks and jobs that are to run on the loop's thread.

extension LoopCore {
  /// Adds work. The caller holds the lock.
  func append(_ item: consuming WorkQueue.Item, modes: [Int32]) {
    if modes.count == 1 {
      state.pointee.work.append(item, mode: modes[0])
    } else {
      state.pointee.work.append(item, modes: modes)
    }
    state.pointee.sleep.noteWork()
  }

  /// Adds work and wakes the loop. False if the loop has ended: the item was dropped.
  @discardableResult
  func enqueue(_ item: WorkQueue.Item, modes: [TrackedRunLoop.Mode]) -> Bool {
    withLock {
      if state.pointee.isFinished { return false }
      if modes.count == 1 {
        state.pointee.work.append(item, mode: modes[0].index)
      } else {
        state.pointee.work.append(item, modes: modes.map(\.index))
      }
      state.pointee.sleep.noteWork()
      return true
    }
  }
}
#endif
