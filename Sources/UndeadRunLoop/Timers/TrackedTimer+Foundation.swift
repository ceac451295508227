#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// The names that `Timer` has, for code that comes from there: they take seconds, as it does. All else takes a `Duration`. What the
// main thread has of them is in `MainRunLoop`.
extension TrackedTimer {
  /// A timer that calls a block; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - interval: seconds until it fires, and between fires if it repeats.
  ///   - repeats: whether it fires again and again until it is invalidated.
  ///   - block: as that of ``init(after:repeats:userInfo:block:)``.
  /// - Throws: `RunLoopError.invalidInterval` for an interval that is negative, not finite, or too long.
  public convenience init(
    timeInterval interval: Double, repeats: Bool = false, block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(after: try Instants.interval(interval), repeats: repeats, block: block)
  }

  /// A timer that calls an action of a target; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - interval: seconds until it fires, and between fires if it repeats.
  ///   - target: what `action` is called with.
  ///   - holding: how the target is held; strongly until the timer is invalidated, if nothing else is said.
  ///   - selector: the name of the action for reports.
  ///   - userInfo: kept until the timer is invalidated.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - action: called on the loop's thread.
  /// - Throws: `RunLoopError.invalidInterval`.
  @inlinable
  public convenience init<Target: AnyObject & Sendable>(
    timeInterval interval: Double, target: Target, holding: TargetHolding = .strong, selector: String = "",
    userInfo: (any Sendable)? = nil, repeats: Bool = false,
    action: @escaping @Sendable (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      after: try Instants.interval(interval), target: target, holding: holding, selector: selector,
      userInfo: userInfo, repeats: repeats, action: action)
  }

  /// A timer that calls a block, added to the calling thread's loop in its default mode.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or `.loopFinished` while the thread is ending.
  @discardableResult
  public static func scheduledTimer(
    withTimeInterval interval: Double, repeats: Bool, block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try TrackedRunLoop.current.start(try TrackedTimer(timeInterval: interval, repeats: repeats, block: block), .default)
  }

  /// A timer that calls an action of a target, added to the calling thread's loop in its default mode.
  ///
  /// The target is held strongly until the timer is invalidated unless `holding` says otherwise.
  /// - Throws: `RunLoopError.invalidInterval`, or `.loopFinished` while the thread is ending.
  @discardableResult
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Double, target: Target, holding: TargetHolding = .strong, selector: String = "",
    userInfo: (any Sendable)? = nil, repeats: Bool,
    action: @escaping @Sendable (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(
      timeInterval: interval, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, action: action)
    return try TrackedRunLoop.current.start(timer, .default)
  }
}
#endif
