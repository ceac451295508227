#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Glibc
public import Testing
public import UndeadRunLoop

/// Waits, in real time, until a condition holds; records an issue if it does not in time.
///
/// For what no virtual clock reaches: other threads, Dispatch, the system. It looks often, so a generous limit costs nothing
/// while the test passes.
///
/// - Parameters:
///   - limit: how long at most.
///   - comment: what was waited for.
///   - sourceLocation: where a failure is recorded.
///   - condition: looked at on the calling thread.
/// - Returns: whether it holds.
@discardableResult
public func eventually(
  within limit: Duration = .seconds(30), _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: () throws -> Bool
) rethrows -> Bool {
  var pause = Pause(limit)
  while true {
    if try condition() { return true }
    guard let duration = pause.next() else { break }
    Pause.sleep(duration)
  }
  record(comment, limit, sourceLocation)
  return false
}

/// The same without keeping a thread.
@discardableResult
public nonisolated(nonsending) func eventually(
  within limit: Duration = .seconds(30), _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async throws -> Bool {
  var pause = Pause(limit)
  while true {
    if try await condition() { return true }
    guard let duration = pause.next() else { break }
    try await Task.sleep(for: duration)
  }
  record(comment, limit, sourceLocation)
  return false
}

extension TrackedRunLoop {
  /// Runs the loop on the calling thread, in its own time, until a condition holds, which is looked at after every pass that
  /// did something; records an issue if it does not in time.
  ///
  /// - Returns: whether it holds.
  @discardableResult
  public func run(
    mode: Mode = .default, within limit: Duration = .seconds(30), until condition: () throws -> Bool,
    _ comment: Comment? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) rethrows -> Bool {
    var pause = Pause(limit)
    while true {
      if try condition() { return true }
      guard let duration = pause.next() else { break }
      let turn = run(mode: mode, for: duration, returnAfterSourceHandled: true)
      if turn == .finished { Pause.sleep(duration) }
    }
    UndeadRunLoopTesting.record(comment, limit, sourceLocation)
    return false
  }
}

private func record(_ comment: Comment?, _ limit: Duration, _ sourceLocation: SourceLocation) {
  Issue.record(
    Comment(rawValue: "not within \(limit)" + (comment.map { ": \($0.rawValue)" } ?? "")),
    sourceLocation: sourceLocation)
}

/// How long to wait before the next look: longer and longer, until the limit is reached.
private struct Pause {
  private let deadline: ContinuousClock.Instant
  private var duration = Duration.microseconds(50)

  init(_ limit: Duration) { deadline = .now + limit }

  mutating func next() -> Duration? {
    let longest = Duration.milliseconds(10)
    guard ContinuousClock.now < deadline else { return nil }
    defer { duration = min(duration * 2, longest) }
    return duration
  }

  static func sleep(_ duration: Duration) {
    var time = timespec(tv_sec: 0, tv_nsec: Int(duration / .nanoseconds(1)))
    nanosleep(&time, nil)
  }
}
#endif
