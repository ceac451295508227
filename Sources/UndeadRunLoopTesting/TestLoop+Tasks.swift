#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch
import Synchronization
public import Testing
public import UndeadRunLoop

/// What a task in virtual time can fail by, beside its own errors.
public enum TestLoopError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The task had not ended after so much real time: it waits for something that virtual time does not bring.
  case notFinished(within: Duration)

  public var description: String {
    switch self {
    case .notFinished(let limit):
      "The task did not end within \(limit) of real time: it waits for something that virtual time does not bring."
    }
  }
}

extension TestLoop {
  /// Runs a task on the loop, in virtual time, until it ends: what sleeps by ``taskClock`` wakes at once, and in its order.
  ///
  /// The calling thread waits and runs the loop. It is one of the few that Swift has for tasks: if `body` starts tasks that do
  /// not run on the loop, make the test `async`, which chooses the other form, with a thread of its own.
  ///
  /// - Parameters:
  ///   - mode: the mode that the loop runs in.
  ///   - limit: how much real time the task may take.
  ///   - sourceLocation: where a failure is recorded.
  ///   - body: the task. It prefers the loop as its executor, and so do the tasks that it starts in groups.
  /// - Throws: what `body` throws, or ``TestLoopError/notFinished(within:)``; the task is cancelled then.
  @discardableResult
  public func run<Value: Sendable>(
    mode: TrackedRunLoop.Mode = .default, within limit: Duration = .seconds(60),
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Value
  ) throws -> Value {
    let outcome = Outcome<Value>()
    let task = Task(executorPreference: loop) { [loop] in
      let result: Result<Value, any Error>
      do { result = .success(try await body()) } catch { result = .failure(error) }
      // By a block, which the loop keeps: a `stop()` between two runs would be lost.
      loop.perform(inModes: [mode]) {
        outcome.set(result)
        loop.stop()
      }
    }
    // The loop waits for other threads, too, as long as it has a source.
    let anchor = TrackedRunLoopSource { _ in }
    try loop.add(anchor, forMode: mode)
    defer { anchor.invalidate() }
    let isLate = Flag()
    // A queue of its own has a thread also when the threads of tasks all wait.
    let queue = DispatchQueue(label: "UndeadRunLoopTesting.limit")
    let alarm = try DispatchTimer(timeInterval: limit, queue: queue) { [loop] _ in
      isLate.set()
      loop.perform(inModes: [mode]) { loop.stop() }
    }
    alarm.resume()
    defer { alarm.invalidate() }
    run(mode, until: { outcome.value != nil || isLate.isSet }, sourceLocation)
    if let value = outcome.value { return try value.get() }
    task.cancel()
    throw TestLoopError.notFinished(within: limit)
  }

  /// The same for `async` tests: the loop runs on a thread of its own.
  @discardableResult
  public func run<Value: Sendable>(
    mode: TrackedRunLoop.Mode = .default, within limit: Duration = .seconds(60),
    sourceLocation: SourceLocation = #_sourceLocation, _ body: @escaping @Sendable () async throws -> Value
  ) async throws -> Value {
    let thread = RunLoopThread(name: "\(loop.name) runner")
    defer { thread.stop() }
    return try await withCheckedThrowingContinuation { continuation in
      thread.loop.perform { [self] in
        let runInThread: () throws -> Value = {
          try self.run(mode: mode, within: limit, sourceLocation: sourceLocation, body)
        }
        continuation.resume(with: Result(catching: runInThread))
      }
    }
  }
}

private final class Outcome<Value: Sendable>: Sendable {
  private let result = Mutex<Result<Value, any Error>?>(nil)
  var value: Result<Value, any Error>? { result.withLock { $0 } }
  func set(_ new: Result<Value, any Error>) { result.withLock { $0 = new } }
}

private final class Flag: Sendable {
  private let value = Atomic(false)
  var isSet: Bool { value.load(ordering: .acquiring) }
  func set() { value.store(true, ordering: .releasing) }
}
#endif
