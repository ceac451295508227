#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Synchronization

extension TrackedRunLoop {
  /// The moments of a run that an observer can see.
  public struct Activity: OptionSet, Hashable, Sendable {
    public let rawValue: UInt

    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The loop starts to run in a mode.
    public static let entry = Activity(rawValue: 1 << 0)
    /// A pass begins; timers will be looked at after the sleep.
    public static let beforeTimers = Activity(rawValue: 1 << 1)
    /// Signalled sources are about to be called.
    public static let beforeSources = Activity(rawValue: 1 << 2)
    /// The loop is about to sleep.
    public static let beforeWaiting = Activity(rawValue: 1 << 5)
    /// The loop woke up.
    public static let afterWaiting = Activity(rawValue: 1 << 6)
    /// The run ends.
    public static let exit = Activity(rawValue: 1 << 7)
    /// Each of them.
    public static let all = Activity(rawValue: 0xFF)
  }

  /// Adds an observer to a mode. An observer can be in one loop only, and is not something that the loop would wait for.
  ///
  /// - Returns: whether the mode is new to the observer.
  /// - Throws: `RunLoopError.invalidated`, `.belongsToAnotherLoop`, or `.loopFinished`.
  @discardableResult
  public func add(_ observer: TrackedRunLoopObserver, forMode mode: Mode = .default) throws(RunLoopError) -> Bool {
    let outcome = core.withLock { () -> Membership.Outcome in
      let modes = core.expand(mode.index)
      return observer.membership.join(core) {
        observer.number = core.state.pointee.observers.insert(observer, modes: modes)
        return nil
      } widen: {
        core.state.pointee.observers.add(observer.number, to: modes)
      }
    }
    return try isNew(outcome, "observer")
  }

  /// Takes an observer out of a mode.
  public func remove(_ observer: TrackedRunLoopObserver, forMode mode: Mode) {
    let record = core.withLock { () -> ObserverTable.Record? in
      guard observer.membership.isMember(of: core) else { return nil }
      let record = core.state.pointee.observers.remove(observer.number, from: core.expand(mode.index))
      if record != nil { observer.membership.leave() }
      return record
    }
    // Let go of without the lock.
    withExtendedLifetime(record) {}
  }

  /// Whether an observer is in a mode of this loop.
  package func contains(_ observer: TrackedRunLoopObserver, forMode mode: Mode) -> Bool {
    core.withLock {
      observer.membership.isMember(of: core) && core.state.pointee.observers.contains(observer.number, in: mode.index)
    }
  }

  /// Calls the observers of an activity. Those added meanwhile are not among them, those removed meanwhile neither.
  func notify(_ activity: Activity, _ mode: Int32) {
    for record in core.withLock({ core.state.pointee.observers.observers(of: activity, in: mode) }) {
      guard core.withLock({ core.state.pointee.observers.contains(record.number, in: mode) }) else { continue }
      record.observer.call(activity, on: self)
    }
  }
}

/// Sees a run loop at work; what `CFRunLoopObserver` is for `RunLoop`.
public final class TrackedRunLoopObserver: Sendable {
  /// The moments that the observer wants to see.
  let activities: TrackedRunLoop.Activity
  /// Whether it stays after the first call.
  private let repeats: Bool
  /// Observers are called from the lowest order to the highest.
  let order: Int
  private let handler: @Sendable (TrackedRunLoopObserver, TrackedRunLoop.Activity) -> Void
  let membership = Membership()
  /// By which its loop finds it; guarded by `membership`.
  nonisolated(unsafe) var number: UInt64 = 0
  private let isCalling = Atomic(false)

  /// - Parameters:
  ///   - activities: the moments to see.
  ///   - repeats: whether it stays after its first call, or invalidates itself before it.
  ///   - order: observers are called from the lowest to the highest.
  ///   - handler: called on the loop's thread; while it runs, the observer is not called again.
  public init(
    activities: TrackedRunLoop.Activity = .all, repeats: Bool = true, order: Int = 0,
    handler: @escaping @Sendable (TrackedRunLoopObserver, TrackedRunLoop.Activity) -> Void
  ) {
    self.activities = activities
    self.repeats = repeats
    self.order = order
    self.handler = handler
  }

  /// Whether the observer can still be called.
  public var isValid: Bool { !membership.isOver }

  /// Takes the observer out of its loop for good.
  public func invalidate() { _ = end() }

  /// False if it has ended already.
  private func end() -> Bool {
    // Let go of without the lock: it may be the observer's last reference.
    let record = membership.end { core in core?.state.pointee.observers.remove(number) }
    return record != nil
  }

  fileprivate func call(_ activity: TrackedRunLoop.Activity, on loop: TrackedRunLoop) {
    if isCalling.exchange(true, ordering: .acquiringAndReleasing) { return }
    defer { isCalling.store(false, ordering: .releasing) }
    // One that is called once is called by the thread that ends it.
    if !repeats, !end() { return }
    Diagnostics.watching(loop, .observer) { handler(self, activity) }
  }
}
#endif
