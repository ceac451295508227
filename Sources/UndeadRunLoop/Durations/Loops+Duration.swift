#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

extension TrackedRunLoop {
  /// Calls a block once, after a duration.
  ///
  /// - Returns: the timer, to cancel it or to change its date.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  @discardableResult
  public func schedule(
    after delay: Duration, mode: Mode = .default, _ block: consuming @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try schedule(after: delay.inSeconds, mode: mode, block)
  }

  /// Calls a block repeatedly.
  ///
  /// - Returns: the timer; the loop keeps it until it is invalidated.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  @discardableResult
  public func schedule(
    every interval: Duration, mode: Mode = .default,
    _ block: consuming @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try schedule(every: interval.inSeconds, mode: mode, block)
  }

  /// Calls a block repeatedly with an owner that is held weakly; the timer ends by itself when the owner is gone.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  @discardableResult
  public func schedule<Owner: AnyObject & Sendable>(
    every interval: Duration, weak owner: Owner, mode: Mode = .default,
    _ action: @escaping @Sendable (Owner, TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try schedule(every: interval.inSeconds, weak: owner, mode: mode, action)
  }

  /// Calls an action of a target on the loop's thread after a delay. The target is held until then, or until cancelled.
  ///
  /// - Throws: `RunLoopError.invalidInterval` or `.loopFinished`.
  @_disfavoredOverload
  public func perform<Target: AnyObject & Sendable>(
    after delay: Duration, on target: Target, name: String = "", modes: [Mode] = [.default],
    action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) {
    try perform(after: delay.inSeconds, on: target, name: name, modes: modes, action: action)
  }

  /// The ticks of a repeating timer of this loop as a sequence; see ``ticks(every:tolerance:mode:)-(Double,_,_)``.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  public func ticks(
    every interval: Duration, tolerance: Duration = .zero, mode: Mode = .default
  ) throws(RunLoopError) -> AsyncStream<TrackedTimer.Tick> {
    try ticks(every: interval.inSeconds, tolerance: tolerance.inSeconds, mode: mode)
  }

  /// Runs in the default mode until an instant of ``taskClock``, or until there is nothing left to wait for; what
  /// ``run(until:)-(Date)`` does with a date.
  public func run(until limit: LoopClock.Instant) { run(until: clock.date(at: limit.nanoseconds)) }

  /// Runs in one mode until a source was handled, an instant of ``taskClock`` has come, or the loop is stopped.
  ///
  /// - Returns: why it returned.
  @discardableResult
  public func run(mode: Mode, before limit: LoopClock.Instant) -> RunResult {
    run(mode: mode, deadline: limit.nanoseconds, returnAfterSource: true)
  }
}

extension MainRunLoop {
  /// A timer that calls a block on the main thread; add it to ``loop`` to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public func timer(
    timeInterval interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    block: @escaping @MainActor (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try timer(timeInterval: interval.inSeconds, repeats: repeats, block: block)
    timer.userInfo = userInfo
    return timer
  }

  /// A timer that calls a method of a target on the main thread; add it to ``loop`` to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public func timer<Target: AnyObject>(
    timeInterval interval: Duration, target: Target, holding: TargetHolding = .strong,
    selector: @escaping @MainActor (Target) -> (TrackedTimer) throws -> Void,
    userInfo: (any Sendable)? = nil, repeats: Bool, name: String = ""
  ) throws(RunLoopError) -> TrackedTimer {
    try timer(
      timeInterval: interval.inSeconds, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, name: name)
  }

  /// A timer that calls a block, added to the main loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  @discardableResult
  public func scheduledTimer(
    withTimeInterval interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    forMode mode: TrackedRunLoop.Mode = .default, block: @escaping @MainActor (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try loop.start(try timer(timeInterval: interval, repeats: repeats, userInfo: userInfo, block: block), mode)
  }

  /// A timer that calls a block and carries something for it, added to the main loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public func scheduledTimer(
    withTimeInterval interval: Double, repeats: Bool, userInfo: (any Sendable)?,
    forMode mode: TrackedRunLoop.Mode = .default, block: @escaping @MainActor (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try timer(timeInterval: interval, repeats: repeats, block: block)
    timer.userInfo = userInfo
    return try loop.start(timer, mode)
  }

  /// A timer that calls a method of a target, added to the main loop. The target is held strongly until the timer is
  /// invalidated, unless `holding` says otherwise.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  @discardableResult
  public func scheduledTimer<Target: AnyObject>(
    timeInterval interval: Duration, target: Target, holding: TargetHolding = .strong,
    selector: @escaping @MainActor (Target) -> (TrackedTimer) throws -> Void,
    userInfo: (any Sendable)? = nil, repeats: Bool, name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, name: name, forMode: mode)
  }

  /// A timer that calls a method of the object that a weak proxy stands for, added to the main loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  @discardableResult
  public func scheduledTimer<Proxy: WeakProxying>(
    timeInterval interval: Duration, proxy: Proxy,
    selector: @escaping @MainActor (Proxy.Target) -> (TrackedTimer) throws -> Void, userInfo: (any Sendable)? = nil,
    repeats: Bool, name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, proxy: proxy, selector: selector, userInfo: userInfo, repeats: repeats,
      name: name, forMode: mode)
  }
}

extension RunLoopConfinement {
  /// A timer that calls a block, added to the loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  @discardableResult
  public func scheduledTimer(
    withTimeInterval interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    forMode mode: TrackedRunLoop.Mode = .default, block: @escaping (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try scheduledTimer(
      withTimeInterval: interval.inSeconds, repeats: repeats, forMode: mode, block: block)
    timer.userInfo = userInfo
    return timer
  }

  /// A timer that calls a method of a target, added to the loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @_disfavoredOverload
  @discardableResult
  public func scheduledTimer<Target: AnyObject>(
    timeInterval interval: Duration, target: Target, holding: TargetHolding = .strong,
    selector: @escaping (Target) -> (TrackedTimer) throws -> Void, userInfo: (any Sendable)? = nil, repeats: Bool,
    name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, target: target, holding: holding, selector: selector, userInfo: userInfo,
      repeats: repeats, name: name, forMode: mode)
  }
}
#endif
