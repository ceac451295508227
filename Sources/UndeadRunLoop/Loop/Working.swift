#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// Blocks, jobs and releases, between the other things that a pass does.

extension TrackedRunLoop {
  /// Runs the blocks and jobs that wait for `mode` now; what they add waits for the next turn. Returns whether there was
  /// one that counts as a source.
  @discardableResult
  func performWork(_ mode: Int32) -> Bool {
    var limit: UInt64?
    var handledSource = false
    while performNext(mode, before: &limit, &handledSource) {}
    return handledSource
  }

  /// A function of its own, so that what the item holds is released before the lock is taken again.
  private func performNext(_ mode: Int32, before limit: inout UInt64?, _ handledSource: inout Bool) -> Bool {
    core.lock()
    let state = core.state
    let last = limit ?? state.pointee.work.nextNumber
    limit = last
    let item = state.pointee.work.take(mode: mode, commonModes: state.pointee.commonModes, before: last)
    core.unlock()
    guard let item else { return false }
    if case .call = item { handledSource = true }
    perform(item)
    return true
  }

  private func perform(_ item: WorkQueue.Item) {
    switch item {
    case .block(let block, let completion), .call(let block, let completion):
      Diagnostics.watching(self, .block) { block() }
      completion?.finish()
    case .job(let job):
      Diagnostics.watching(self, .task) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    case .release: break
    }
  }
}
#endif
