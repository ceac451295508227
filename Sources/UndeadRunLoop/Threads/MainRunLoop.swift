#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The main thread's loop for code that lives there: blocks and targets need not be `Sendable`, and actions may be given
/// as method references, `target: self, selector: Owner.tick`.
///
/// Timers that it makes are called and released on the main thread only. Their times are seconds, as those of `Timer`.
@MainActor
public struct MainRunLoop {
  /// The main thread's loop.
  public static let shared = MainRunLoop()

  /// The same loop, for what may be done from any thread.
  public nonisolated var loop: TrackedRunLoop { TrackedRunLoop.main }

  private nonisolated init() {}

  /// A timer that calls a block on the main thread; add it to ``loop`` to start it.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  public func timer(
    timeInterval interval: Double, repeats: Bool, block: @escaping @MainActor (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    TrackedTimer(
      interval: try Instants.nanoseconds(of: try Instants.interval(interval)), repeats: repeats, confined: true,
      action: .block { timer in try MainActor.assumeIsolated { try block(timer) } })
  }

  /// A timer that calls a method of a target on the main thread; add it to ``loop`` to start it.
  ///
  /// - Parameters:
  ///   - interval: seconds until it fires, and between fires if it repeats.
  ///   - target: held strongly until the timer is invalidated, unless `holding` says otherwise.
  ///   - holding: how the timer refers to its target.
  ///   - selector: the method, as in `Owner.tick`.
  ///   - userInfo: kept for the target, which reads it from the timer.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - name: of the timer in reports.
  /// - Throws: `RunLoopError.invalidInterval`.
  public func timer<Target: AnyObject>(
    timeInterval interval: Double, target: Target, holding: TargetHolding = .strong,
    selector: @escaping @MainActor (Target) -> (TrackedTimer) throws -> Void,
    userInfo: (any Sendable)? = nil, repeats: Bool, name: String = ""
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(
      after: try Instants.interval(interval), repeats: repeats, confined: true, target: target, holding: holding,
      selector: name,
      userInfo: userInfo
    ) { target, timer in
      // A confined timer is called on the main thread only: nothing crosses threads here.
      nonisolated(unsafe) let target = target
      try MainActor.assumeIsolated { try selector(target)(timer) }
    }
    if !name.isEmpty { timer.name = name }
    return timer
  }

  /// A timer that calls a block, added to the main loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public func scheduledTimer(
    withTimeInterval interval: Double, repeats: Bool, forMode mode: TrackedRunLoop.Mode = .default,
    block: @escaping @MainActor (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    try loop.start(try timer(timeInterval: interval, repeats: repeats, block: block), mode)
  }

  /// A timer that calls a method of a target, added to the main loop. The target is held strongly until the timer is
  /// invalidated, unless `holding` says otherwise.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public func scheduledTimer<Target: AnyObject>(
    timeInterval interval: Double, target: Target, holding: TargetHolding = .strong,
    selector: @escaping @MainActor (Target) -> (TrackedTimer) throws -> Void,
    userInfo: (any Sendable)? = nil, repeats: Bool, name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try loop.start(
      try timer(
        timeInterval: interval, target: target, holding: holding, selector: selector, userInfo: userInfo,
        repeats: repeats, name: name), mode)
  }

  /// A timer that calls a method of the object that a weak proxy stands for, added to the main loop; the proxy is held,
  /// the object is not.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public func scheduledTimer<Proxy: WeakProxying>(
    timeInterval interval: Double, proxy: Proxy,
    selector: @escaping @MainActor (Proxy.Target) -> (TrackedTimer) throws -> Void, userInfo: (any Sendable)? = nil,
    repeats: Bool, name: String = "", forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> TrackedTimer {
    try scheduledTimer(
      timeInterval: interval, target: proxy,
      selector: { proxy in { timer in if let target = proxy.target { try selector(target)(timer) } } },
      userInfo: userInfo, repeats: repeats, name: name, forMode: mode)
  }

  /// Runs a block on the main thread, after those that were added before.
  public func perform(inModes modes: [TrackedRunLoop.Mode] = [.common], _ block: @escaping @MainActor () -> Void) {
    loop.core.enqueue(.block({ MainActor.assumeIsolated(block) }, nil), modes: modes)
  }
}
#endif
