#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials

extension TrackedRunLoop {
  /// Runs a block on the loop's thread, after those that were added before, and wakes the loop.
  ///
  /// - Parameters:
  ///   - modes: the modes in which it may run.
  ///   - block: dropped if the loop's thread has ended.
  /// - Returns: whether the loop took it; false if its thread has ended.
  @discardableResult
  public func perform(inModes modes: [Mode] = [.default], _ block: @escaping @Sendable () -> Void) -> Bool {
    core.enqueue(.block(block, nil), modes: modes)
  }

  /// Runs a block on the loop's thread, and waits for it if asked.
  ///
  /// - Parameters:
  ///   - wait: whether to return only after the block. On the loop's own thread, that is a direct call.
  ///   - modes: the modes in which it may run.
  ///   - block: called on the thread of the loop.
  /// - Throws: `RunLoopError.loopFinished` if the loop's thread has ended, `.abandoned` if it ended while it was waited for.
  public func perform(
    waitUntilDone wait: Bool, modes: [Mode] = [.common], _ block: @escaping @Sendable () -> Void
  ) throws(RunLoopError) {
    try call(waitUntilDone: wait, modes: modes, asSource: false, block)
  }

  /// - Parameter asSource: whether `run(mode:before:)` returns afterwards.
  private func call(
    waitUntilDone wait: Bool, modes: [Mode], asSource: Bool, _ block: @escaping @Sendable () -> Void
  ) throws(RunLoopError) {
    if wait, isCurrentThread { return block() }
    let completion = wait ? Completion() : nil
    let item = asSource ? WorkQueue.Item.call(block, completion) : .block(block, completion)
    guard core.enqueue(item, modes: modes) else { throw .loopFinished(loop: name) }
    if let completion, !completion.wait() { throw .abandoned(loop: name) }
  }

  /// Calls an action of a target on the loop's thread, and waits for it if asked. The target is held until then.
  ///
  /// - Throws: `RunLoopError.loopFinished` if the loop's thread has ended, `.abandoned` if it ended while it was waited for.
  public func perform<Target: AnyObject & Sendable>(
    on target: Target, waitUntilDone wait: Bool, modes: [Mode] = [.common],
    action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) {
    try call(waitUntilDone: wait, modes: modes, asSource: true) { action(target) }
  }

  /// Calls an action of a target on the loop's thread after a delay. The target is held until then, or until cancelled.
  ///
  /// - Parameters:
  ///   - delay: zero runs it in the next pass.
  ///   - target: what the action is called with.
  ///   - name: by which ``cancelPerforms(target:name:)`` finds it.
  ///   - modes: the modes in which it may run.
  ///   - action: called with the target.
  /// - Throws: `RunLoopError.invalidInterval` or `.loopFinished`.
  public func perform<Target: AnyObject & Sendable>(
    after delay: Duration, on target: Target, name: String = "", modes: [Mode] = [.default],
    action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) {
    let timer = try TrackedTimer(after: delay, target: target, selector: name) { target, _ in action(target) }
    timer.withHome { _ in _ = timer.flags.insert(.performer) }
    for mode in modes { try add(timer, forMode: mode) }
  }

  /// Calls an action of a target in the loop's next pass, in the order of the numbers: what
  /// `perform(_:target:argument:order:modes:)` is for `RunLoop`. The target is held until then, or until cancelled.
  ///
  /// - Parameters:
  ///   - target: what the action is called with.
  ///   - order: lower numbers come first, equal ones in the order of the calls; blocks without an order have 0.
  ///   - name: by which ``cancelPerforms(target:name:)`` finds it.
  ///   - modes: the modes in which it may run.
  ///   - action: called with the target.
  /// - Throws: `RunLoopError.loopFinished` if the loop's thread has ended.
  public func perform<Target: AnyObject & Sendable>(
    on target: Target, order: Int, name: String = "", modes: [Mode] = [.default],
    action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) {
    let performer = WorkQueue.Performer(
      target: UInt(bitPattern: ObjectIdentifier(target)), name: name, order: order)
    let isTaken = core.withLock { () -> Bool in
      if core.state.pointee.isFinished { return false }
      core.state.pointee.work.append(.block({ action(target) }, nil), of: performer, modes: modes.map(\.index))
      core.state.pointee.sleep.noteWork()
      return true
    }
    guard isTaken else { throw .loopFinished(loop: self.name) }
  }

  /// Takes back delayed performs, and those with an order, that have not run.
  ///
  /// - Parameters:
  ///   - target: only those for this target.
  ///   - name: only those of this name; nil for any name.
  /// - Returns: how many were taken back.
  @discardableResult
  public func cancelPerforms(target: AnyObject, name: String? = nil) -> Int {
    let address = UInt(bitPattern: ObjectIdentifier(target))
    let matching = core.withLock {
      core.state.pointee.timers.all.filter { timer in
        guard timer.flags.contains(.performer), let found = timer.describedTarget else { return false }
        return found.address == address && (name == nil || found.selector == name)
      }
    }
    for timer in matching { timer.invalidate() }
    // Released without the lock.
    let ordered = core.withLock { core.state.pointee.work.removePerformers(target: address, name: name) }
    return matching.count + ordered.count
  }
}
#endif
