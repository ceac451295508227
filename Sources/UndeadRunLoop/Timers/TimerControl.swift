#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials
import Synchronization

extension TrackedTimer {
  /// Whether the timer can still fire.
  public var isValid: Bool { status.load(ordering: .acquiring) == Status.valid }

  /// The time between fires; zero for a timer that does not repeat.
  public var interval: Duration { isRepeating ? Instants.duration(period) : .zero }

  var isRepeating: Bool { withHome { _ in flags.contains(.repeats) } }

  /// When the timer fires next.
  ///
  /// Setting it reschedules the timer, also from its callback and from another thread (the loop wakes); a repeating timer
  /// goes on from there. A past date fires at once. Ignored for an invalid timer and for a date that is not a number.
  public var fireDate: Date {
    get {
      withHome { core in
        (core?.state.pointee.clock ?? clockOutsideLoops).date(at: due)
      }
    }
    set {
      guard isValid, !newValue.timeIntervalSince1970.isNaN else { return }
      withHome { core in
        let clock = core?.state.pointee.clock ?? clockOutsideLoops
        let instant = clock.instant(at: newValue)
        guard let core else { return setDate(instant, now: clock.now) }
        core.reschedule(self, due: instant, now: clock.now)
      }
    }
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
  private var clockAndDue: (clock: RunLoopClock, due: Int64) {
    withHome { core in (core?.state.pointee.clock ?? clockOutsideLoops, due) }
  }

  /// By how much a fire may be delayed so that timers wake the loop together; never early, and without drift.
  ///
  /// For a repeating timer at most half its interval. Setting it does not restart the phase; negative values count as
  /// zero.
  public var tolerance: Duration {
    get { Instants.duration(withHome { _ in leeway }) }
    set {
      let wanted = max(0, Instants.nanoseconds(newValue))
      withHome { core in
        let allowed = flags.contains(.repeats) ? min(wanted, period / 2) : wanted
        guard let core else {
          leeway = allowed
          return
        }
        core.setLeeway(self, allowed)
      }
    }
  }

  /// How often the timer has fired.
  public var firings: Int { withHome { _ in Int(clamping: fireCount) } }

  /// How many ticks were skipped because their time had passed.
  public var missedFirings: Int { withHome { _ in Int(clamping: missedCount) } }

  /// Calls the action now, without changing the schedule of a repeating timer; a one-shot timer then invalidates itself.
  ///
  /// Does nothing if the timer is invalid or is firing, and for a timer of ``MainRunLoop`` or ``TrackedRunLoop/confine(_:)``
  /// that is in no loop. From a thread that is not the loop's, the loop does it soon; a loop that something drives has no
  /// thread of its own, and does it when it is driven next.
  public func fire() {
    let thread = undead_loop_thread()
    enum Plan {
      case nothing, call
    }
    let plan = withHome { core -> Plan in
      guard isValid, !flags.contains(.firing) else { return .nothing }
      // What it captures belongs to a thread that only a loop knows.
      if core == nil, flags.contains(.confined) { return .nothing }
      if let core, !core.mayCall(self, on: thread) {
        let modes = slot >= 0 ? core.state.pointee.timers.modes(of: self) : []
        // Under this hold: the timer may be in another loop a moment later.
        core.append(
          .block({ [self] in fire() }, nil),
          modes: modes.contains(ModeTable.commonMode) ? modes : modes + [ModeTable.commonMode])
        return .nothing
      }
      core?.state.pointee.timers.unqueue(self)
      flags.insert(.firing)
      noteFireByHand()
      return .call
    }
    guard plan == .call else { return }
    invoke(action, target)
    settleAfterFire()
  }

  private func settleAfterFire() {
    var spent = LoopCore.Spent()
    withHome { core in
      if let core { return core.settle(self, advancingPast: nil, &spent) }
      flags.remove(.firing)
      if !flags.contains(.repeats) || !isValid {
        spent.reason = flags.contains(.repeats) ? .invalidated : .fired
        status.store(Status.invalid, ordering: .releasing)
        spent.takeWork(of: self)
        spent.extras = extras.load()
      }
    }
    spent.release()
  }

  /// Ends the timer: it never fires again, leaves all modes, and lets go of its target, block and `userInfo`.
  ///
  /// May be called twice, in the callback, and from any thread; what `NSTimer` forbids from another thread takes effect
  /// here, and diagnostics record it. During the callback the target is released when the callback returns.
  public func invalidate() {
    if status.exchange(Status.invalid, ordering: .sequentiallyConsistent) != Status.valid { return }
    var foreignLoop: LoopIdentity?
    let isObserved = Diagnostics.isOn
    let spent = withHome { core -> LoopCore.Spent in
      var spent = LoopCore.Spent()
      if let core, isObserved { foreignLoop = core.loopIfForeign() }
      if !flags.contains(.firing) {
        spent.extras = extras.load()
        let isHandedOver = flags.contains(.confined) && core?.handOver(self) ?? false
        if !isHandedOver { spent.takeWork(of: self) }
      }
      // Last, because a timer without a home may be taken by any thread.
      spent.timer = core?.removeEntirely(self)
      return spent
    }
    if isObserved { Diagnostics.timerInvalidated(self) }
    if let foreignLoop { Diagnostics.invalidatedOffThread(self, loop: foreignLoop.name) }
    release(spent)
  }

  @inline(__always)
  private func release(_ spent: LoopCore.Spent) {
    var spent = spent
    spent.release()
  }
}

extension LoopCore {
  /// What is known of the loop, if the calling thread is not its thread. The caller holds the lock.
  func loopIfForeign() -> LoopIdentity? {
    let owner = state.pointee.owner
    return owner != 0 && owner != undead_loop_thread() ? state.pointee.identity : nil
  }

  /// Whether a thread that no loop calls may call a timer of this one. The caller holds the lock.
  func mayCall(_ timer: TrackedTimer, on thread: UInt) -> Bool {
    if state.pointee.owner != 0 { return state.pointee.owner == thread }
    // Whoever drives the loop may begin to at any moment, on another thread.
    return !state.pointee.driving.isDriven && !timer.flags.contains(.confined)
  }

  /// Lets the loop's thread release what belongs to it. False if this is that thread. The caller holds the lock.
  func handOver(_ timer: TrackedTimer) -> Bool {
    if state.pointee.owner == undead_loop_thread() || state.pointee.isFinished { return false }
    append(.release(timer.takeAction(), timer.takeTarget()), modes: [ModeTable.commonMode])
    return true
  }
}

/// Why a timer will not fire again.
enum TimerEnd: Sendable {
  /// It was invalidated, or its callback threw.
  case invalidated
  /// It fired for the last time.
  case fired
  /// Its loop ended with the timer in it.
  case loopEnded
}

/// What few timers have, kept out of the many.
@dynamicMemberLookup
final class TimerExtras: Sendable {
  struct State {
    var name = ""
    /// The name of the action of a target that is held strongly.
    var selector = ""
    var error: (any Error)?
    /// The clock of the loop that the timer left, nil if that was the monotonic one.
    var clock: RunLoopClock?
    /// When a date was set that had passed by then.
    var datedAt = Int64.min
    /// Called once when the timer ends, without a lock, by the thread that ends it.
    var ended: (@Sendable (TimerEnd) -> Void)?
  }
  private let state = Locked(State())
  /// Guarded by the lock of `state`; a field of its own, because reports name the field.
  @exclusivity(unchecked) nonisolated(unsafe) private var userInfo: (any Sendable)?
  /// The display link whose frames the timer counts. It holds the timer; known before the timer is scheduled.
  @exclusivity(unchecked) nonisolated(unsafe) var displayLink: Unmanaged<TrackedDisplayLink>?

  subscript<Value>(dynamicMember path: WritableKeyPath<State, Value>) -> Value {
    get { state.withLock { $0[keyPath: path] } }
    set { state.withLock { $0[keyPath: path] = newValue } }
  }

  func readUserInfo() -> (any Sendable)? { state.withLock { _ in userInfo } }

  func setUserInfo(_ new: (any Sendable)?) {
    // Released without the lock.
    let old = state.withLock { _ in
      defer { userInfo = new }
      return userInfo
    }
    withExtendedLifetime(old) {}
  }

  /// The timer ended, or its loop did.
  func end(_ reason: TimerEnd) {
    if reason != .loopEnded { setUserInfo(nil) }
    let ended = state.withLock { $0.ended.take() }
    ended?(reason)
  }
}

/// What `AtomicLazyReference` is, without its 500 instructions for each load.
struct TimerExtrasReference: ~Copyable {
  private let bits = Atomic<UInt>(0)

  @inline(__always)
  func load() -> TimerExtras? {
    let bits = bits.load(ordering: .acquiring)
    return bits == 0 ? nil : Self.object(bits).takeUnretainedValue()
  }

  func storeIfNil(_ extras: TimerExtras) -> TimerExtras {
    let new = Unmanaged.passRetained(extras)
    let result = bits.compareExchange(
      expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .acquiringAndReleasing)
    if result.exchanged { return extras }
    new.release()
    return Self.object(result.original).takeUnretainedValue()
  }

  deinit {
    let bits = bits.load(ordering: .acquiring)
    if bits != 0 { Self.object(bits).release() }
  }

  private static func object(_ bits: UInt) -> Unmanaged<TimerExtras> {
    // Only ever set from a valid object.
    Unmanaged.fromOpaque(UnsafeRawPointer(bitPattern: bits).unsafelyUnwrapped)
  }
}

extension TrackedTimer {
  /// The loop ended with this timer in it. Returns whether a fire may still be expected.
  func loopEnded() -> Bool {
    let (target, endsWithTarget) = withHome { _ -> (TimerTarget?, Bool) in
      flags.insert(.detached)
      return (describedTarget, flags.contains(.endsWithTarget))
    }
    if endsWithTarget, target.map({ !$0.isAlive }) ?? false { invalidate() }
    let mayBeWaitedFor = isValid
    extras.load()?.end(.loopEnded)
    return mayBeWaitedFor
  }

  /// Sets the next date, as a caller wants it. The caller has exclusive access to the timer.
  func setDate(_ instant: Int64, now: Int64) {
    due = instant
    flags.remove([.relative, .backdated])
    flags.insert(.dated)
    if instant < now {
      makeExtras().datedAt = now
      flags.insert(.backdated)
    }
  }

  /// Since when the loop could have called the timer: its date, or when that was set if it had passed by then. The caller has
  /// exclusive access to the timer.
  @inline(__always)
  var overdueSince: Int64 { flags.contains(.backdated) ? max(due, extras.load()?.datedAt ?? due) : due }

  /// The clock of `due` while the timer is in no loop. The caller has exclusive access to the timer.
  var clockOutsideLoops: RunLoopClock {
    flags.contains(.foreignClock) ? extras.load()?.clock ?? RunLoopClock.monotonic : RunLoopClock.monotonic
  }

  /// The timer leaves a loop that lives by `clock`. The caller has exclusive access to the timer.
  func keepClock(_ clock: RunLoopClock) {
    makeExtras().clock = clock
    flags.insert(.foreignClock)
  }

  func makeExtras() -> TimerExtras { extras.load() ?? extras.storeIfNil(TimerExtras()) }

  /// The timer's name in reports.
  public var name: String {
    get { extras.load()?.name ?? "" }
    set {
      makeExtras().name = newValue
      if Diagnostics.isOn { Diagnostics.timerNamed(self, newValue) }
    }
  }

  /// What the timer was given to carry; released when it is invalidated.
  public var userInfo: (any Sendable)? {
    get { extras.load()?.readUserInfo() }
    set { if isValid { makeExtras().setUserInfo(newValue) } }
  }

  /// The error that the callback threw, which ended the timer.
  public var error: (any Error)? { extras.load()?.error }

  var reportName: String {
    let kind = extras.load()?.displayLink == nil ? "timer" : "display link"
    return name.isEmpty ? kind : "\(kind) \"\(name)\""
  }
}

extension TrackedTimer: Hashable, CustomStringConvertible {
  /// Two timers are equal if they are the same one.
  public static func == (left: TrackedTimer, right: TrackedTimer) -> Bool { left === right }

  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

  /// `timer "name"`, with its interval.
  public var description: String { "\(reportName) (\(isRepeating ? "every" : "after") \(Instants.seconds(period)) s)" }
}
#endif
