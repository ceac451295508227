#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

extension TrackedTimer {
  /// A timer that calls a block after a duration, and carries something for it; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - interval: from one fire to the next, and to the first.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - userInfo: the block reads it from the timer; released when the timer ends.
  ///   - block: called with the timer at each fire.
  /// - Throws: `RunLoopError.invalidInterval` for a negative duration, or one of more than 292 years.
  public convenience init(
    after interval: Duration, repeats: Bool = false, userInfo: (any Sendable)?,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(after: interval, repeats: repeats, block: block)
    self.userInfo = userInfo
  }

  /// A timer that calls a block after some seconds, and carries something for it; add it to a loop to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init(
    timeInterval interval: Double, repeats: Bool = false, userInfo: (any Sendable)?,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(timeInterval: interval, repeats: repeats, block: block)
    self.userInfo = userInfo
  }

  /// A timer that calls a block for the first time at a date, and carries something for it; add it to a loop to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval` or `.invalidDate`.
  public convenience init(
    fire fireDate: Date, interval: Double, repeats: Bool, userInfo: (any Sendable)?,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(fire: fireDate, interval: interval, repeats: repeats, block: block)
    self.userInfo = userInfo
  }

  /// A timer that calls a block for the first time at a date; add it to a loop to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval` or `.invalidDate`.
  @_disfavoredOverload
  public convenience init(
    fire fireDate: Date, interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      fire: fireDate, interval: interval.inSeconds, repeats: repeats, userInfo: userInfo, block: block)
  }

  /// A timer that calls an action of a target after a duration; add it to a loop to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @inlinable
  public convenience init<Target: AnyObject & Sendable>(
    after interval: Duration, target: Target, holding: TargetHolding = .strong, selector: String = "",
    userInfo: (any Sendable)? = nil, repeats: Bool = false,
    action: @escaping @Sendable (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval.inSeconds, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, action: action)
  }

  /// A timer that calls an action of the object that a weak proxy stands for; the proxy is held, the object is not.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init<Proxy: WeakProxying & Sendable>(
    after interval: Duration, proxy: Proxy, selector: String = "", userInfo: (any Sendable)? = nil,
    repeats: Bool = false, action: @escaping @Sendable (Proxy.Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval.inSeconds, proxy: proxy, selector: selector, userInfo: userInfo, repeats: repeats,
      action: action)
  }

  /// A timer that calls a block, added to the calling thread's loop in its default mode.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or `.loopFinished` while the thread is ending.
  @_disfavoredOverload
  @discardableResult
  public static func scheduledTimer(
    withTimeInterval interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(after: interval, repeats: repeats, userInfo: userInfo, block: block)
    try TrackedRunLoop.current.insert(timer)
    return timer
  }

  /// A timer that calls a block and carries something for it, added to the calling thread's loop in its default mode.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or `.loopFinished` while the thread is ending.
  @discardableResult
  public static func scheduledTimer(
    withTimeInterval interval: Double, repeats: Bool, userInfo: (any Sendable)?,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(timeInterval: interval, repeats: repeats, userInfo: userInfo, block: block)
    try TrackedRunLoop.current.insert(timer)
    return timer
  }

  /// A timer that calls an action of a target, added to the calling thread's loop in its default mode.
  ///
  /// The target is held strongly until the timer is invalidated unless `holding` says otherwise.
  /// - Throws: `RunLoopError.invalidInterval`, or `.loopFinished` while the thread is ending.
  @_disfavoredOverload
  @discardableResult
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, holding: TargetHolding = .strong, selector: String = "",
    userInfo: (any Sendable)? = nil, repeats: Bool,
    action: @escaping @Sendable (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, action: action)
  }

  /// The time between fires; zero for a timer that does not repeat.
  public var interval: Duration { isRepeating ? Instants.duration(period) : .zero }

  /// ``tolerance`` as a duration.
  public var toleranceDuration: Duration {
    get { Duration(inSeconds: tolerance) }
    set { tolerance = newValue.inSeconds }
  }

  /// How long it is until the timer fires next, by its loop's clock; negative if it is overdue. Setting it reschedules the
  /// timer, as setting ``fireDate`` does.
  public var timeUntilFire: Duration {
    get {
      let (clock, due) = clockAndDue
      return Instants.duration(due) - Instants.duration(clock.now)
    }
    set {
      let clock = clockAndDue.clock
      fireDate = clock.date(at: Instants.add(clock.now, Instants.nanoseconds(newValue)))
    }
  }

  /// The clock that the timer's date belongs to, and the date.
  private var clockAndDue: (clock: any RunLoopClock, due: Int64) {
    withHome { core in (core?.state.pointee.clock ?? clockOutsideLoops, due) }
  }
}
#endif
