#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import FoundationEssentials

/// A timer on a Dispatch queue, independent of any run loop, without the traps of `DispatchSourceTimer`: it may be
/// released or cancelled before it was started, in its own callback, and from any thread.
///
/// The timer must be kept: releasing it ends it. Ticks that the queue could not take in time are coalesced into one.
/// All members are safe to call from any thread.
public final class DispatchTimer: Sendable {
  /// What a tick calls; false ends the timer.
  typealias Tick = @Sendable (DispatchTimer) -> Bool

  private struct State {
    var source: (any DispatchSourceTimer)?
    var isCalling = false
    var due: Int64
    var tolerance: Int64 = 0
  }

  // DispatchSourceTimer is thread-safe, but its protocol does not say so.
  private struct Guarded: @unchecked Sendable { var state: State }

  private let guarded: Locked<Guarded>
  /// Guarded by the same lock; a field of its own, because reports name the field. nil once the timer has ended.
  @exclusivity(unchecked) nonisolated(unsafe) private var block: Tick?
  private let queue: DispatchQueue
  let target: DispatchQueue
  private let period: Int64
  private let repeats: Bool

  /// A timer that calls a block; ``resume()`` starts it.
  ///
  /// - Parameters:
  ///   - interval: the time until it fires, and between fires if it repeats. Zero with `repeats` means 0.1 ms.
  ///   - repeats: true to fire until it is invalidated, false to fire once.
  ///   - queue: where the block runs; one call at a time, also on a concurrent queue.
  ///   - block: called on the queue with each fire.
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init(
    timeInterval interval: Duration, repeats: Bool = false, queue: DispatchQueue = .global(),
    block: @escaping @Sendable (DispatchTimer) -> Void
  ) throws(RunLoopError) {
    self.init(start: nil, period: try Instants.nanoseconds(of: interval), repeats: repeats, queue: queue) { timer in
      block(timer)
      return true
    }
  }

  /// A timer that calls an action of a target that it does not keep; it ends at the first tick after the target died.
  ///
  /// - Throws: `RunLoopError.invalidInterval`.
  public convenience init<Target: AnyObject & Sendable>(
    timeInterval interval: Duration, weak target: Target, repeats: Bool = false, queue: DispatchQueue = .global(),
    action: @escaping @Sendable (Target, DispatchTimer) -> Void
  ) throws(RunLoopError) {
    self.init(start: nil, period: try Instants.nanoseconds(of: interval), repeats: repeats, queue: queue) {
      [weak target] timer in
      guard let target else { return false }
      action(target, timer)
      return true
    }
  }

  /// - Parameters:
  ///   - start: nanoseconds until the first tick, nil for `period`.
  ///   - period: nanoseconds between ticks.
  init(start: Int64?, period: Int64, repeats: Bool, queue: DispatchQueue, tick: @escaping Tick) {
    self.period = repeats ? max(period, TrackedTimer.shortestPeriod) : period
    self.repeats = repeats
    target = queue
    self.queue = DispatchQueue(label: "UndeadRunLoop.DispatchTimer", target: queue)
    let due = Instants.add(RunLoopClock.monotonic.now, start ?? self.period)
    guarded = Locked(Guarded(state: State(due: due)))
    block = tick
  }

  deinit { invalidate() }

  /// Starts the timer. Nothing if it was started, or invalidated.
  public func resume() {
    guarded.withLock { guarded in
      guard block != nil, guarded.state.source == nil else { return }
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.setEventHandler { [weak self] in self?.call() }
      guarded.state.source = source
      arm(&guarded.state)
      source.activate()
    }
  }

  /// Whether the timer can still fire.
  public var isValid: Bool { guarded.withLock { _ in block != nil } }

  /// When the timer fires next. Setting it reschedules the timer; a past date fires at once.
  public var fireDate: Date {
    get { RunLoopClock.monotonic.date(at: guarded.withLock { $0.state.due }) }
    set {
      guard !newValue.timeIntervalSince1970.isNaN else { return }
      let due = RunLoopClock.monotonic.instant(at: newValue)
      guarded.withLock { guarded in
        guarded.state.due = due
        arm(&guarded.state)
      }
    }
  }

  /// By how much a fire may be delayed. Setting it does not restart the phase.
  public var tolerance: Duration {
    get { Instants.duration(guarded.withLock { $0.state.tolerance }) }
    set {
      let wanted = max(0, Instants.nanoseconds(newValue))
      guarded.withLock { guarded in
        guarded.state.tolerance = repeats ? min(wanted, period / 2) : wanted
        arm(&guarded.state)
      }
    }
  }

  /// Calls the block now, on the calling thread; a one-shot timer then ends. Nothing while it is being called.
  public func fire() { call() }

  /// Ends the timer and lets go of its block. May be called twice, in the callback, before `resume()`, and from any thread.
  public func invalidate() {
    let released = guarded.withLock { guarded -> (Tick?, (any DispatchSourceTimer)?) in
      let held = (block, guarded.state.source)
      block = nil
      guarded.state.source = nil
      return held
    }
    released.1?.cancel()
  }

  private func call() {
    let tick = guarded.withLock { guarded -> Tick? in
      guard let tick = block, !guarded.state.isCalling else { return nil }
      guarded.state.isCalling = true
      return tick
    }
    guard let tick else { return }
    let goesOn = tick(self)
    let now = RunLoopClock.monotonic.now
    guarded.withLock { guarded in
      guarded.state.isCalling = false
      if guarded.state.due <= now, repeats {
        guarded.state.due = Instants.add(guarded.state.due, ((now - guarded.state.due) / period + 1) * period)
      }
    }
    if !goesOn || !repeats { invalidate() }
  }

  private func arm(_ state: inout State) {
    guard let source = state.source else { return }
    let ahead = max(0, Instants.subtract(state.due, RunLoopClock.monotonic.now))
    let leeway = DispatchTimeInterval.nanoseconds(Int(state.tolerance))
    if repeats {
      source.schedule(
        deadline: .now() + .nanoseconds(Int(ahead)), repeating: .nanoseconds(Int(period)), leeway: leeway)
    } else {
      source.schedule(deadline: .now() + .nanoseconds(Int(ahead)), leeway: leeway)
    }
  }
}
#endif
