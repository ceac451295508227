#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials

/// A run loop: it sleeps until a timer is due or a source has work, and calls them on its thread, one after the other.
///
/// Each thread has one, made when ``current`` is first asked for, and ended with the thread. ``main`` belongs to the
/// main thread; while it runs it also serves Dispatch's main queue, and with it `@MainActor`. A loop made by
/// ``init(name:clock:)`` belongs to no thread: the thread that runs or drives it is its thread for that time.
///
/// A loop runs in a ``Mode`` and serves only what was added to that mode. It can be nested: a callback may run its own
/// loop again, and the timer that is firing is not re-entered.
///
/// All members are safe to call from any thread, except those that run the loop: run it on one thread at a time.
public final class TrackedRunLoop: Sendable {
  let core: LoopCore
  let kind: Kind
  let identity: LoopIdentity

  enum Kind: Sendable { case thread, main, free }

  /// The clock that the loop's timers live by.
  public var clock: RunLoopClock { identity.clock }

  /// A loop of its own, for a queue, an executor, or a test with a ``VirtualClock``.
  ///
  /// - Parameters:
  ///   - name: shown in reports; "loop" and a number if it is empty.
  ///   - clock: the clock its timers live by.
  public convenience init(name: String = "", clock: RunLoopClock = .monotonic) {
    self.init(name: name, clock: clock, kind: .free)
  }

  init(name: String, clock: RunLoopClock, kind: Kind) {
    core = LoopStatePool.take()
    let state = core.state
    self.kind = kind
    identity = LoopIdentity(
      name: name.isEmpty ? LoopNames.next(kind == .free ? "loop" : "thread") : name, clock: clock)
    core.withLock {
      state.pointee.loop = Unmanaged.passUnretained(self)
      state.pointee.identity = identity
      state.pointee.isFinished = false
      state.pointee.takesJobs = true
      state.pointee.clock = clock
      state.pointee.clockIsMonotonic = clock === RunLoopClock.monotonic
      state.pointee.statistics = LoopStatistics()
      state.pointee.owner = 0
      // The state may come from a loop with another clock.
      state.pointee.sleep = SleepState()
      state.pointee.activations = ActivationStack()
      state.pointee.isAnchored = false
      state.pointee.driving = DrivingState()
      core.prepareSets()
      if clock.kernelClock == .realtime { state.pointee.poller.watchClock() }
    }
    clock.addJumpObserver(self)
    LoopRegistry.shared.add(self)
  }

  deinit {
    finishForGood()
    LoopRegistry.shared.remove(self)
    clock.removeJumpObserver(self)
    core.withLock {
      core.state.pointee.loop = nil
      core.state.pointee.identity = nil
      core.state.pointee.clock = RunLoopClock.monotonic
      core.state.pointee.owner = 0
    }
    LoopStatePool.give(core)
  }

  /// The loop's name in reports; by default "main" for the main thread's, and the name of the thread for others, or
  /// "thread" and a number if it has none when its loop is made.
  ///
  /// - Note: On Linux, Foundation's `Thread` forgets a `name` that it is given before `start()`: let the thread name itself.
  public var name: String {
    get { identity.name }
    set { identity.name = newValue }
  }

  /// The loop that runs on the calling thread, else the thread's own, made if need be.
  public static var current: TrackedRunLoop { existing ?? makeCurrent() }

  /// The same, nil if the thread has none yet.
  static var existing: TrackedRunLoop? {
    let loop = undead_loop_running() ?? undead_loop_current()
    return loop.map { Unmanaged<TrackedRunLoop>.fromOpaque($0).takeUnretainedValue() }
  }

  /// The main thread's loop.
  public static let main = TrackedRunLoop(name: "main", clock: RunLoopClock.monotonic, kind: .main)

  private static func makeCurrent() -> TrackedRunLoop {
    let loop =
      undead_loop_is_main_thread()
      ? main
      : TrackedRunLoop(name: LoopNames.ofThread(), clock: RunLoopClock.monotonic, kind: .thread)
    loop.belongToThisThread()
    return loop
  }

  /// Makes this the calling thread's loop, which ends with the thread.
  func belongToThisThread() {
    core.withLock {
      core.state.pointee.owner = undead_loop_thread()
      core.state.pointee.threadID = undead_loop_thread_id()
    }
    undead_loop_set_current(Unmanaged.passRetained(self).toOpaque()) { loop in
      guard let loop else { return }
      Unmanaged<TrackedRunLoop>.fromOpaque(loop).takeRetainedValue().finish()
    }
  }

  /// Whether the calling thread may touch what belongs to the loop: it runs the loop, or the loop is its own.
  public var isCurrentThread: Bool {
    let owner = core.withLock { core.state.pointee.owner }
    // Nobody has run or asked for the main loop yet.
    if owner == 0, kind == .main { return MainThread.isCurrent }
    return owner == undead_loop_thread()
  }

  /// Whether the loop's thread has ended. Nothing can be added to it any more.
  public var isFinished: Bool { core.withLock { core.state.pointee.isFinished } }

  /// The mode in which the loop runs now, nil while it does not run.
  public var currentMode: Mode? {
    core.withLock { core.state.pointee.activations.mode.map(Mode.init(index:)) }
  }

  /// The object that the loop was made for; it is held weakly. Diagnostics report a loop that still runs when it is gone.
  public var owner: AnyObject? {
    get { identity.owner }
    set { identity.owner = newValue }
  }

  /// The clock has moved other than by the passing of time: the loop looks at its timers with the new one.
  func clockDidJump() { core.withLock { core.state.pointee.sleep.noteWork() } }

  /// The shortest time between two wake-ups for timers, 150 microseconds by default.
  ///
  /// Timers that are due within it fire together: the price is at most this much lateness, the gain is most of the CPU time
  /// of a loop with many timers. A timer that comes alone is not delayed.
  public var minimumWakeInterval: Duration {
    get { .nanoseconds(core.withLock { core.state.pointee.sleep.minimumGap }) }
    set {
      let gap = min(max(0, Instants.nanoseconds(newValue)), 1_000_000_000)
      core.withLock { core.state.pointee.sleep.minimumGap = gap }
    }
  }
}

extension TrackedRunLoop: CustomStringConvertible, Equatable {
  /// `run loop "name"`.
  public var description: String { "run loop \"\(name)\"" }

  /// Two loops are equal if they are the same one.
  public static func == (left: TrackedRunLoop, right: TrackedRunLoop) -> Bool { left === right }
}
#endif
