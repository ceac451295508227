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
  func enqueue(_ item: WorkQueue.Item, modes: [Int32]) -> Bool {
    withLock {
      if state.pointee.isFinished { return false }
      append(item, modes: modes)
      return true
    }
  }

  @discardableResult
  func enqueue(_ item: WorkQueue.Item, mode: Int32) -> Bool {
    withLock {
      if state.pointee.isFinished { return false }
      state.pointee.work.append(item, mode: mode)
      state.pointee.sleep.noteWork()
      return true
    }
  }

  @discardableResult
  func enqueue(_ item: WorkQueue.Item, modes: [TrackedRunLoop.Mode]) -> Bool {
    modes.count == 1 ? enqueue(item, mode: modes[0].index) : enqueue(item, modes: modes.map(\.index))
  }
}
#endif
