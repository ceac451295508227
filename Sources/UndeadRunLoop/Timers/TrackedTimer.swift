#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials
import Synchronization

/// A timer for a `TrackedRunLoop`: what `Timer` is for `RunLoop`, with targets.
///
/// A timer fires on the thread of the loop that it was added to, once or repeatedly, and never early. A loop holds its
/// timers strongly, and a timer holds its target as asked: strongly by default, as `NSTimer` does, until it is
/// invalidated. **An owner that holds such a timer, and waits for its `deinit` to invalidate it, never dies**: use
/// `holding: .weak`, a ``WeakProxy``, or a block that captures weakly.
///
/// A repeating timer stays on the grid that its first fire date and its interval make. When a tick is late it fires
/// once, and the next one is the next point of the grid that has not passed: missed ticks are counted, never bunched.
///
/// All members are safe to call from any thread.
public final class TrackedTimer: Sendable {
  typealias Callback = (TrackedTimer) throws -> Void

  /// A block, or a method in its place. A struct, because the compiler wraps functions that pass through generic code, also
  /// that of `Optional`, in others, and a method must stay what it is.
  struct Kept { let action: Callback }

  /// What a timer is made with. It is kept as what `kind` says, which takes less.
  enum Action {
    case block(Callback)
    /// Called with a target that the timer holds strongly.
    case method(TimerTarget.Method)
    /// A target that is not held strongly.
    case target(TimerTarget)
  }

  enum Kind: UInt8 {
    /// `action` is called.
    case block
    /// `action` is a method, called with `target`.
    case method
    /// The same, where the target is a proxy, which may have nobody to forward to. Remembered, because the question takes long.
    case proxyMethod
    /// `target` knows what to call: a `TimerTarget`.
    case held
  }

  enum Status {
    static let valid: UInt8 = 0
    static let invalid: UInt8 = 1
  }

  struct Flags: OptionSet {
    let rawValue: UInt16
    /// The callback is running; its loop holds on to what it needs.
    static let firing = Flags(rawValue: 1)
    /// An entry of the loop's queue carries this timer's key.
    static let queued = Flags(rawValue: 2)
    /// Removed from its loop while firing: the loop still owes the release of its reference.
    static let owed = Flags(rawValue: 4)
    /// The fire date was set during the callback.
    static let rescheduled = Flags(rawValue: 8)
    /// The fire date is `interval` after creation, and nobody has asked for it yet.
    static let relative = Flags(rawValue: 16)
    /// What it captures belongs to the loop's thread: it must be called and released there.
    static let confined = Flags(rawValue: 32)
    static let repeats = Flags(rawValue: 64)
    static let wasScheduled = Flags(rawValue: 128)
    static let performer = Flags(rawValue: 256)
    /// A target or an owner that is gone ends the timer.
    static let endsWithTarget = Flags(rawValue: 512)
    /// Its loop ended, which was reported.
    static let detached = Flags(rawValue: 1024)
    /// It is in no loop, and its date is one of the clock that `extras` names.
    static let foreignClock = Flags(rawValue: 2048)
    /// Somebody set its next date, which therefore is not the next point of a grid.
    static let dated = Flags(rawValue: 4096)
    /// That date had passed when it was set; `extras` knows when that was.
    static let backdated = Flags(rawValue: 8192)
    /// The library's own: it ends with its loop, and on any thread, and nothing about that is reported.
    static let hasFired = Flags(rawValue: 32768)
  }

  // The variables below are guarded by `home`: by the lock of the loop that it names, or by being `Home.locked`.
  // `action` and `target` are the exception: a timer that is firing reads them without the lock, and nobody else changes
  // them then.
  // Exclusivity is what the lock is for; checking it at run time would double the price of a fire.
  @exclusivity(unchecked) nonisolated(unsafe) var action: Kept?
  @exclusivity(unchecked) nonisolated(unsafe) var target: AnyObject?
  @exclusivity(unchecked) nonisolated(unsafe) var due: Int64
  /// What is counted, nil for a timer that fires once and has no tolerance.
  @exclusivity(unchecked) nonisolated(unsafe) var tally: UnsafeMutablePointer<TimerTally>?
  @exclusivity(unchecked) nonisolated(unsafe) var slot: Int32 = -1
  @exclusivity(unchecked) nonisolated(unsafe) var flags: Flags
  let status = Atomic<UInt8>(Status.valid)
  let kind: Kind
  let period: Int64
  /// The address of the state of the loop that the timer is in, or one of `Home`.
  let home = Atomic<UInt>(Home.none)
  let extras = TimerExtrasReference()

  enum Home {
    static let none: UInt = 0
    /// In no loop, and some thread is reading or changing it.
    static let locked: UInt = 1
  }

  /// `due` is an instant of the monotonic clock until the timer is added to a loop that lives by another clock; out of that
  /// loop again, it remains one of the loop's clock.
  init(
    due: Int64, period: Int64, flags: Flags, action: consuming Action, target: consuming AnyObject? = nil,
    isProxy: Bool = false
  ) {
    self.due = due
    self.period = period
    self.flags = flags
    switch consume action {
    case .block(let block):
      kind = .block
      self.action = Kept(action: block)
      self.target = nil
    case .method(let method):
      kind = isProxy ? .proxyMethod : .method
      self.action = TimerTarget.kept(method)
      self.target = consume target
    case .target(let held):
      kind = .held
      self.target = held
    }
    if flags.contains(.repeats) { withTally { _ in } }
    if Diagnostics.isOn { Diagnostics.timerCreated(self) }
  }

  deinit {
    if Diagnostics.isOn { Diagnostics.timerDestroyed(self) }
    tally?.deallocate()
  }
}

// MARK: - Making timers

extension TrackedTimer {
  /// The shortest interval of a repeating timer, in nanoseconds: 0.1 ms, as on Apple platforms.
  static let shortestPeriod: Int64 = 100_000

  /// A timer that calls a block after a duration; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - interval: from one fire to the next, and to the first. Zero with `repeats` means 0.1 ms.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - userInfo: the block reads it from the timer; released when the timer ends.
  ///   - block: called on the loop's thread with the timer. If it throws, the timer is invalidated and the error reported.
  /// - Throws: `RunLoopError.invalidInterval` for a negative duration, or one of more than 292 years.
  public convenience init(
    after interval: Duration, repeats: Bool = false, userInfo: (any Sendable)? = nil,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    self.init(interval: try Instants.nanoseconds(of: interval), repeats: repeats, action: .block(block))
    if userInfo != nil { makeExtras().setUserInfo(userInfo) }
  }

  /// A timer that calls a block for the first time at a date; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - fireDate: the first fire; a date in the past fires at once.
  ///   - interval: from one fire to the next; it reads zero for a timer that does not repeat.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - userInfo: the block reads it from the timer; released when the timer ends.
  ///   - block: called with the timer at each fire.
  /// - Throws: `RunLoopError.invalidInterval` or `.invalidDate`.
  public convenience init(
    fire fireDate: Date, interval: Duration, repeats: Bool, userInfo: (any Sendable)? = nil,
    block: @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    guard !fireDate.timeIntervalSince1970.isNaN else { throw .invalidDate }
    try self.init(after: interval, repeats: repeats, userInfo: userInfo, block: block)
    setDate(RunLoopClock.monotonic.instant(at: fireDate), now: undead_loop_monotonic())
  }

  /// A timer that calls an action of a target; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - interval: from one fire to the next, and to the first. Zero with `repeats` means 0.1 ms.
  ///   - target: what `action` is called with.
  ///   - holding: how the target is held. As with `NSTimer` it is held strongly until the timer is invalidated.
  ///   - selector: the name of the action for reports.
  ///   - userInfo: kept until the timer is invalidated.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - action: called on the loop's thread.
  /// - Throws: `RunLoopError.invalidInterval`.
  @inlinable
  public convenience init<Target: AnyObject & Sendable>(
    after interval: Duration, target: Target, holding: TargetHolding = .strong, selector: String = "",
    userInfo: (any Sendable)? = nil, repeats: Bool = false,
    action: @escaping @Sendable (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    try self.init(
      after: interval, repeats: repeats, confined: false, target: target, holding: holding, selector: selector,
      userInfo: userInfo, action: action)
  }

  // Inlined into the program, because closures cost less where the class of the target is known.
  @inlinable
  convenience init<Target: AnyObject>(
    after interval: Duration, repeats: Bool, confined: Bool, target: Target, holding: TargetHolding,
    selector: String, userInfo: (any Sendable)?, action: @escaping (Target, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    if holding == .strong {
      try self.init(
        after: interval, repeats: repeats, confined: confined, strong: target, selector: selector,
        userInfo: userInfo, method: TimerTarget.erase(action))
    } else {
      try self.init(
        after: interval, repeats: repeats, confined: confined, other: target, holding: holding,
        selector: selector, userInfo: userInfo, method: TimerTarget.erase(action))
    }
  }

  /// - Parameter method: called with the target.
  @usableFromInline
  convenience init(
    after interval: Duration, repeats: Bool, confined: Bool, strong target: consuming AnyObject, selector: String,
    userInfo: (any Sendable)?, method: consuming @escaping (AnyObject, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    let isProxy = ProxyTypes.isProxy(target)
    self.init(
      interval: try Instants.nanoseconds(of: interval), repeats: repeats, confined: confined,
      action: .method(consume method),
      target: consume target, isProxy: isProxy)
    if userInfo != nil { makeExtras().setUserInfo(userInfo) }
    if !selector.isEmpty { makeExtras().selector = selector }
  }

  /// - Parameter method: called with the target.
  @usableFromInline
  convenience init(
    after interval: Duration, repeats: Bool, confined: Bool, other target: AnyObject, holding: TargetHolding,
    selector: String, userInfo: (any Sendable)?, method: @escaping (AnyObject, TrackedTimer) throws -> Void
  ) throws(RunLoopError) {
    let held =
      holding == .weak ? WeakTarget(target, selector, method) : UnretainedTarget(target, selector, method)
    self.init(
      interval: try Instants.nanoseconds(of: interval), repeats: repeats, confined: confined, action: .target(held))
    if userInfo != nil { makeExtras().setUserInfo(userInfo) }
  }

  convenience init(
    interval: Int64, repeats: Bool, confined: Bool = false, action: consuming Action,
    target: consuming AnyObject? = nil, isProxy: Bool = false
  ) {
    var flags: Flags = repeats ? [.relative, .repeats] : .relative
    if confined { flags.insert(.confined) }
    self.init(
      due: Instants.add(undead_loop_monotonic(), interval),
      period: repeats ? max(interval, Self.shortestPeriod) : interval, flags: flags,
      action: consume action, target: consume target, isProxy: isProxy)
  }
}
#endif
