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
  /// - Returns: whether the mode is new to the observer, or why it was refused.
  @discardableResult
  public func add(_ observer: TrackedRunLoopObserver, forMode mode: Mode) -> Result<Bool, RunLoopError> {
    if !observer.isValid { return .failure(.invalidated(item: "observer")) }
    if let other = observer.claim(for: self) {
      return .failure(.belongsToAnotherLoop(item: "observer", loop: other))
    }
    return core.withLock { () -> Result<Bool, RunLoopError> in
      if core.state.pointee.isFinished { return .failure(.loopFinished(loop: name)) }
      let modes = core.expand(mode.index)
      if let known = core.state.pointee.observers.firstIndex(where: { $0.observer === observer }) {
        return .success(core.state.pointee.observers[known].modes.formUnionReporting(modes))
      }
      // After those of the same order: observers of one order are called as they were added.
      let place = core.state.pointee.observers.firstIndex { $0.observer.order > observer.order }
      core.state.pointee.observers.insert(
        ObserverRecord(observer: observer, modes: modes), at: place ?? core.state.pointee.observers.count)
      return .success(true)
    }
  }

  /// Takes an observer out of a mode.
  public func remove(_ observer: TrackedRunLoopObserver, forMode mode: Mode) {
    let isGone = core.withLock { () -> Bool in
      guard let known = core.state.pointee.observers.firstIndex(where: { $0.observer === observer }) else {
        return false
      }
      core.state.pointee.observers[known].modes.removeAll(where: core.expand(mode.index).contains)
      guard core.state.pointee.observers[known].modes.isEmpty else { return false }
      core.state.pointee.observers.remove(at: known)
      return true
    }
    if isGone { observer.unclaim() }
  }

  /// Whether an observer is in a mode of this loop.
  public func contains(_ observer: TrackedRunLoopObserver, forMode mode: Mode) -> Bool {
    core.withLock {
      core.state.pointee.observers.contains { $0.observer === observer && $0.modes.contains(mode.index) }
    }
  }

  func notify(_ activity: Activity, _ mode: Int32) {
    let observers = core.withLock { () -> [TrackedRunLoopObserver] in
      if core.state.pointee.observers.isEmpty { return [] }
      return core.state.pointee.observers.filter { $0.modes.contains(mode) }.map(\.observer)
    }
    for observer in observers { observer.call(activity, on: self) }
  }
}

extension LoopCore {
  fileprivate func forget(_ observer: TrackedRunLoopObserver) {
    let record = withLock { () -> ObserverRecord? in
      guard let known = state.pointee.observers.firstIndex(where: { $0.observer === observer }) else { return nil }
      return state.pointee.observers.remove(at: known)
    }
    withExtendedLifetime(record) {}
  }
}

/// Sees a run loop at work; what `CFRunLoopObserver` is for `RunLoop`.
public final class TrackedRunLoopObserver: Sendable {
  /// Called on the loop's thread.
  public typealias Handler = @Sendable (TrackedRunLoopObserver, TrackedRunLoop.Activity) -> Void

  private struct State {
    var home: LoopCore?
    var isCalling = false
    var isValid = true
  }

  /// The moments that the observer wants to see.
  public let activities: TrackedRunLoop.Activity
  /// Whether it stays after the first call.
  public let repeats: Bool
  /// Observers are called from the lowest order to the highest.
  public let order: Int
  private let handler: Handler
  private let state = Locked(State())

  /// - Parameters:
  ///   - activities: the moments to see.
  ///   - repeats: whether it stays after its first call, or invalidates itself before it.
  ///   - order: observers are called from the lowest to the highest.
  ///   - handler: called on the loop's thread; while it runs, the observer is not called again.
  public init(
    activities: TrackedRunLoop.Activity = .all, repeats: Bool = true, order: Int = 0, handler: @escaping Handler
  ) {
    self.activities = activities
    self.repeats = repeats
    self.order = order
    self.handler = handler
  }

  /// Whether the observer can still be called.
  public var isValid: Bool { state.withLock { $0.isValid } }

  /// Takes the observer out of its loop for good.
  public func invalidate() {
    let home = state.withLock { state -> LoopCore? in
      state.isValid = false
      defer { state.home = nil }
      return state.home
    }
    home?.forget(self)
  }

  /// Makes the observer belong to `loop`, or returns the name of the loop that it belongs to.
  fileprivate func claim(for loop: TrackedRunLoop) -> String? {
    state.withLock { state in
      if let home = state.home, home != loop.core { return home.name }
      state.home = loop.core
      return nil
    }
  }

  func unclaim() { state.withLock { $0.home = nil } }

  fileprivate func call(_ activity: TrackedRunLoop.Activity, on loop: TrackedRunLoop) {
    guard activities.contains(activity) else { return }
    let isDue = state.withLock { state -> Bool in
      guard state.isValid, !state.isCalling else { return false }
      state.isCalling = true
      return true
    }
    guard isDue else { return }
    if !repeats { invalidate() }
    Diagnostics.watching(loop, .observer) { handler(self, activity) }
    state.withLock { $0.isCalling = false }
  }
}

struct ObserverRecord {
  let observer: TrackedRunLoopObserver
  var modes: [Int32]

  mutating func widen(by mode: Int32) {
    if modes.contains(ModeTable.commonMode) { _ = modes.formUnionReporting([mode]) }
  }
}

extension [Int32] {
  /// Adds what is missing; returns whether something was.
  mutating func formUnionReporting(_ modes: [Int32]) -> Bool {
    let missing = modes.filter { !contains($0) }
    append(contentsOf: missing)
    return !missing.isEmpty
  }
}
