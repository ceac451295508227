#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import Synchronization

/// Tasks on Dispatch timers, known by an id: start them, forget them, cancel them by id.
///
/// An id is never used again, so that cancelling a task that has ended cannot hit another one. All members are safe to
/// call from any thread.
public enum PreciseTimer {
  /// The name of a task.
  public struct ID: Hashable, Sendable {
    let number: UInt64
  }

  private static let lastNumber = Atomic<UInt64>(0)
  private static let tasks = Locked<[ID: DispatchTimer]>([:])

  static func prepare() { tasks.withLock { _ in } }

  /// Calls `body` with the tasks, or returns nil if their table stays locked for `nanoseconds`.
  static func withTasks(within nanoseconds: Int64, _ body: ([ID: DispatchTimer]) -> Void) -> Void? {
    tasks.withLock(within: nanoseconds) { body($0) }
  }

  /// Runs a task at a time, once or repeatedly, until it is cancelled.
  ///
  /// - Parameters:
  ///   - start: the time until the first run.
  ///   - interval: the time between runs.
  ///   - repeats: whether it runs more than once.
  ///   - async: on a global queue; otherwise on the main queue.
  ///   - queue: another queue instead of these two.
  ///   - task: called at each due time.
  /// - Returns: the task's id.
  /// - Throws: `RunLoopError.invalidInterval` for a negative start, or an interval of 0 or less that repeats.
  @discardableResult
  public static func execTask(
    start: Duration = .zero, interval: Duration, repeats: Bool, async: Bool, queue: DispatchQueue? = nil,
    task: @escaping @Sendable () -> Void
  ) throws(RunLoopError) -> ID {
    try begin(start, interval, repeats, queue ?? (async ? .global() : .main)) {
      task()
      return true
    }
  }

  /// Runs an action of a target that is not kept alive; the task ends at the first run after the target died.
  ///
  /// - Returns: the task's id.
  /// - Throws: `RunLoopError.invalidInterval` for a negative start, or an interval of 0 or less that repeats.
  @discardableResult
  public static func execTask<Target: AnyObject & Sendable>(
    target: Target, start: Duration = .zero, interval: Duration, repeats: Bool, async: Bool,
    queue: DispatchQueue? = nil,
    action: @escaping @Sendable (Target) -> Void
  ) throws(RunLoopError) -> ID {
    try begin(start, interval, repeats, queue ?? (async ? .global() : .main)) { [weak target] in
      guard let target else { return false }
      action(target)
      return true
    }
  }

  /// Ends a task. Its present run, if any, goes on to its end.
  ///
  /// - Returns: whether there was such a task.
  @discardableResult
  public static func cancelTask(_ id: ID) -> Bool {
    let timer = tasks.withLock { $0.removeValue(forKey: id) }
    timer?.invalidate()
    return timer != nil
  }

  /// The tasks that have not ended.
  public static var activeTasks: Set<ID> { tasks.withLock { Set($0.keys) } }

  private static func begin(
    _ start: Duration, _ interval: Duration, _ repeats: Bool, _ queue: DispatchQueue,
    _ body: @escaping @Sendable () -> Bool
  ) throws(RunLoopError) -> ID {
    let delay = try Instants.nanoseconds(of: start)
    let period = repeats || interval > .zero ? try Instants.nanoseconds(of: interval) : 0
    if repeats, period == 0 { throw .invalidInterval(0) }
    let id = ID(number: lastNumber.add(1, ordering: .relaxed).newValue)
    let timer = DispatchTimer(start: delay, period: period, repeats: repeats, queue: queue) { _ in
      let goesOn = body()
      if !goesOn || !repeats { cancelTask(id) }
      return goesOn
    }
    tasks.withLock { $0[id] = timer }
    timer.resume()
    return id
  }
}
#endif
