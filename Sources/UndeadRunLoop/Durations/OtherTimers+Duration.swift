#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch

extension WeakTimer {
  /// A timer on a Dispatch queue; ``schedule()`` starts it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public convenience init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    dispatchQueue queue: DispatchQueue, action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval.inSeconds, target: target, userInfo: userInfo, repeats: repeats, dispatchQueue: queue,
      action: action)
  }

  /// A timer on a run loop; ``schedule()`` starts it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public convenience init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    loop: TrackedRunLoop = .current, mode: TrackedRunLoop.Mode = .default,
    action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval.inSeconds, target: target, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode,
      action: action)
  }

  /// A timer on a run loop that calls a block with what it carries; ``schedule()`` starts it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public convenience init(
    timeInterval interval: Duration, userInfo: (any Sendable)? = nil, repeats: Bool, loop: TrackedRunLoop = .current,
    mode: TrackedRunLoop.Mode = .default, block: @escaping @Sendable (WeakTimer) -> Void
  ) throws(RunLoopError) {
    try self.init(
      timeInterval: interval.inSeconds, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode, block: block)
  }

  /// A timer on a Dispatch queue, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    dispatchQueue queue: DispatchQueue, action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, target: target, userInfo: userInfo, repeats: repeats, dispatchQueue: queue,
      action: action)
  }

  /// A timer on a run loop, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  @discardableResult
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    loop: TrackedRunLoop = .current, mode: TrackedRunLoop.Mode = .default,
    action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, target: target, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode,
      action: action)
  }

  /// A timer on a run loop that calls a block with what it carries, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  @discardableResult
  public static func scheduledTimer(
    timeInterval interval: Duration, userInfo: (any Sendable)? = nil, repeats: Bool, loop: TrackedRunLoop = .current,
    mode: TrackedRunLoop.Mode = .default, block: @escaping @Sendable (WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    try scheduledTimer(
      timeInterval: interval.inSeconds, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode, block: block)
  }

  /// ``tolerance`` as a duration.
  public var toleranceDuration: Duration {
    get { Duration(inSeconds: tolerance) }
    set { tolerance = newValue.inSeconds }
  }
}

extension DispatchTimer {
  /// A timer that calls a block; ``resume()`` starts it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public convenience init(
    timeInterval interval: Duration, repeats: Bool = false, queue: DispatchQueue = .global(),
    block: @escaping @Sendable (DispatchTimer) -> Void
  ) throws(RunLoopError) {
    try self.init(timeInterval: interval.inSeconds, repeats: repeats, queue: queue, block: block)
  }

  /// A timer that calls an action of a target that it does not keep; it ends at the first tick after the target died.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @_disfavoredOverload
  public convenience init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, weak target: Target, repeats: Bool = false, queue: DispatchQueue = .global(),
    action: @escaping @Sendable (Target, DispatchTimer) -> Void
  ) throws(RunLoopError) {
    try self.init(timeInterval: interval.inSeconds, weak: target, repeats: repeats, queue: queue, action: action)
  }

  /// ``tolerance`` as a duration.
  public var toleranceDuration: Duration {
    get { Duration(inSeconds: tolerance) }
    set { tolerance = newValue.inSeconds }
  }
}

extension PreciseTimer {
  /// Runs a task at a time, once or repeatedly, until it is cancelled.
  ///
  /// - Returns: the task's id.
  /// - Throws: `RunLoopError.invalidInterval` for a negative start, or an interval of 0 or less that repeats.
  @_disfavoredOverload
  @discardableResult
  public static func execTask(
    start: Duration = .zero, interval: Duration, repeats: Bool, async: Bool, queue: DispatchQueue? = nil,
    task: @escaping @Sendable () -> Void
  ) throws(RunLoopError) -> ID {
    try execTask(
      start: start.inSeconds, interval: interval.inSeconds, repeats: repeats, async: async, queue: queue, task: task)
  }

  /// Runs an action of a target that is not kept alive; the task ends at the first run after the target died.
  ///
  /// - Returns: the task's id.
  /// - Throws: `RunLoopError.invalidInterval` for a negative start, or an interval of 0 or less that repeats.
  @_disfavoredOverload
  @discardableResult
  public static func execTask<Target: AnyObject & Sendable>(
    target: Target, start: Duration = .zero, interval: Duration, repeats: Bool, async: Bool,
    queue: DispatchQueue? = nil, action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) -> ID {
    try execTask(
      target: target, start: start.inSeconds, interval: interval.inSeconds, repeats: repeats, async: async,
      queue: queue, action: action)
  }
}

extension TrackedDisplayLink {
  /// When the present frame began, by the loop's clock; ``timestamp`` as a duration.
  public var frameTime: Duration { Duration(inSeconds: timestamp) }

  /// When the next frame that the target is called for begins; ``targetTimestamp`` as a duration.
  public var targetFrameTime: Duration { Duration(inSeconds: targetTimestamp) }

  /// The time between two frames of the source; ``duration`` as a duration.
  public var frameDuration: Duration { Duration(inSeconds: duration) }
}
#endif
