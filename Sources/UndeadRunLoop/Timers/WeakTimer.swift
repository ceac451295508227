#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import FoundationEssentials

/// A timer that does not keep its target, and ends by itself at the first tick after the target died.
///
/// It runs on a Dispatch queue, where it may be used from any thread, or on a run loop in a mode of your choice. On a queue
/// the timer must be kept, and releasing it ends it; on a loop, the loop keeps it.
public final class WeakTimer: Sendable {
  /// On a queue a `DispatchTimer`, on a loop a `TrackedTimer`.
  private let engine: any WeakTimerEngine
  private let handle: Handle
  /// What the timer was given to carry.
  public let userInfo: (any Sendable)?

  /// A timer on a Dispatch queue; ``schedule()`` starts it.
  ///
  /// - Parameters:
  ///   - interval: the time until it fires, and between fires if it repeats.
  ///   - target: held weakly.
  ///   - userInfo: kept for the callback, which reads it from the timer; released when the timer ends.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - queue: where the action runs; one call at a time, also on a concurrent queue.
  ///   - action: called with the target at each fire.
  /// - Throws: `RunLoopError.invalidInterval`.
  public init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    dispatchQueue queue: DispatchQueue, action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) {
    let handle = Handle()
    self.handle = handle
    self.userInfo = userInfo
    engine = try DispatchTimer(timeInterval: interval, weak: target, repeats: repeats, queue: queue) { target, _ in
      if let timer = handle.timer { action(target, timer) }
    }
    handle.timer = self
  }

  /// A timer on a run loop; ``schedule()`` starts it.
  ///
  /// - Parameters:
  ///   - interval: the time until it fires, and between fires if it repeats.
  ///   - target: held weakly.
  ///   - userInfo: as of a timer on a queue.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - loop: keeps the timer while it is scheduled.
  ///   - mode: the mode in which the action runs.
  ///   - action: called with the target at each fire.
  /// - Throws: `RunLoopError.invalidInterval`.
  public init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    loop: TrackedRunLoop = .current, mode: TrackedRunLoop.Mode = .default,
    action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) {
    let handle = Handle(start: (loop, mode))
    self.handle = handle
    self.userInfo = userInfo
    let timer = try TrackedTimer(after: interval, target: target, holding: .weak, repeats: repeats) {
      target, _ in
      if let timer = handle.timer { action(target, timer) }
    }
    timer.endsWithTarget = true
    engine = timer
    handle.take(self, timer)
  }

  /// A timer on a run loop that calls a block with what it carries; ``schedule()`` starts it.
  ///
  /// It has no target to end with: the block is kept, with what it captures, until the timer ends.
  ///
  /// - Parameters:
  ///   - interval: the time until it fires, and between fires if it repeats.
  ///   - userInfo: for the block to read from the timer.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - loop: keeps the timer while it is scheduled.
  ///   - mode: the mode in which the block runs.
  ///   - block: called with the timer at each fire.
  /// - Throws: `RunLoopError.invalidInterval`.
  public init(
    timeInterval interval: Duration, userInfo: (any Sendable)? = nil, repeats: Bool, loop: TrackedRunLoop = .current,
    mode: TrackedRunLoop.Mode = .default, block: @escaping @Sendable (WeakTimer) -> Void
  ) throws(RunLoopError) {
    let handle = Handle(start: (loop, mode))
    self.handle = handle
    self.userInfo = userInfo
    let timer = try TrackedTimer(after: interval, repeats: repeats) { _ in
      if let timer = handle.timer { block(timer) }
    }
    engine = timer
    handle.take(self, timer)
  }

  deinit { invalidate() }

  /// Starts the timer. Nothing if it was started, or invalidated.
  public func schedule() {
    if let timer = engine as? DispatchTimer { return timer.resume() }
    guard let timer = engine as? TrackedTimer, timer.isValid, let (loop, mode) = handle.keep(self) else { return }
    if (try? loop.add(timer, forMode: mode)) == nil { timer.invalidate() }
  }

  /// A timer on a Dispatch queue, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    dispatchQueue queue: DispatchQueue, action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    let timer = try WeakTimer(
      timeInterval: interval, target: target, userInfo: userInfo, repeats: repeats, dispatchQueue: queue,
      action: action)
    timer.schedule()
    return timer
  }

  /// A timer on a run loop, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public static func scheduledTimer<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, target: Target, userInfo: (any Sendable)? = nil, repeats: Bool,
    loop: TrackedRunLoop = .current, mode: TrackedRunLoop.Mode = .default,
    action: @escaping @Sendable (Target, WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    let timer = try WeakTimer(
      timeInterval: interval, target: target, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode,
      action: action)
    timer.schedule()
    return timer
  }

  /// A timer on a run loop that calls a block with what it carries, started.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  @discardableResult
  public static func scheduledTimer(
    timeInterval interval: Duration, userInfo: (any Sendable)? = nil, repeats: Bool, loop: TrackedRunLoop = .current,
    mode: TrackedRunLoop.Mode = .default, block: @escaping @Sendable (WeakTimer) -> Void
  ) throws(RunLoopError) -> WeakTimer {
    let timer = try WeakTimer(
      timeInterval: interval, userInfo: userInfo, repeats: repeats, loop: loop, mode: mode, block: block)
    timer.schedule()
    return timer
  }

  /// Whether the timer can still fire.
  public var isValid: Bool { engine.isValid }

  /// When the timer fires next; setting it reschedules the timer.
  public var fireDate: Date {
    get { engine.fireDate }
    set { engine.fireDate = newValue }
  }

  /// By how much a fire may be delayed. Setting it does not restart the phase.
  public var tolerance: Duration {
    get { engine.tolerance }
    set { engine.tolerance = newValue }
  }

  /// Calls the action now: on the calling thread for a timer on a queue, on the loop's thread for one on a loop.
  public func fire() { engine.fire() }

  /// Ends the timer. May be called twice, in the callback, before ``schedule()``, and from any thread.
  public func invalidate() { engine.invalidate() }
}

/// What a weak timer runs by.
private protocol WeakTimerEngine: AnyObject, Sendable {
  var isValid: Bool { get }
  var fireDate: Date { get set }
  var tolerance: Duration { get set }
  func fire()
  func invalidate()
}

extension DispatchTimer: WeakTimerEngine {}
extension TrackedTimer: WeakTimerEngine {}

extension WeakTimer {
  /// Lets a callback that is made before the timer find it, and keeps the timer while it is in a loop.
  private final class Handle: @unchecked Sendable {
    typealias Start = (loop: TrackedRunLoop, mode: TrackedRunLoop.Mode)

    /// Set once, before the timer can tick.
    weak var timer: WeakTimer?
    // Guarded by the lock. The loop is known only until the timer is in it: the loop holds the timer then, not the other
    // way round.
    private let state: Locked<(start: Start?, kept: WeakTimer?)>

    init(start: Start? = nil) { state = Locked((start, nil)) }

    /// The timer, and what it runs by.
    func take(_ timer: WeakTimer, _ engine: TrackedTimer) {
      self.timer = timer
      engine.makeExtras().ended = { [self, unowned engine] reason in
        // It cannot go to another loop.
        if reason == .loopEnded { engine.invalidate() }
        letGo()
      }
    }

    /// Keeps the timer from now on. Returns where it is to be started, nil if that was done.
    func keep(_ timer: WeakTimer) -> Start? {
      state.withLock { state in
        guard let start = state.start else { return nil }
        state = (nil, timer)
        return start
      }
    }

    func letGo() {
      let old = state.withLock { state in
        defer { state = (nil, nil) }
        return state
      }
      withExtendedLifetime(old) {}
    }
  }
}
#endif
