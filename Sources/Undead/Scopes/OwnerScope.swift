import CUndead
import UndeadReport
import UndeadSystem

/// The lifetime of something that owns objects, such as a screen, a request or a connection: what it adopted must be
/// gone when it is closed.
///
/// An object that is still alive after the grace time is an `abandoned` leak: reachable, but nobody needs it any more.
/// If allocations are recorded, the scope then finds out who holds it. Objects are held weakly; a scope never keeps
/// anything alive. Scopes may be nested: the end of an outer one says nothing about objects of an inner one.
///
/// All methods may be called from any thread.
public final class OwnerScope: Sendable {
  /// The name that reports show.
  public let name: String

  private enum Phase {
    case open
    case closing
    case closed(Outcome)
  }

  private struct State {
    var phase = Phase.open
    var objects: [HiddenAddress: ObjectHandle] = [:]
    var adoptedAfterClose = 0
  }

  private let state = Mutex(State())
  private let session: DetectionSession
  private let registration: UInt64

  /// Opens a scope.
  ///
  /// - Parameter name: what the scope stands for, such as "Detail screen".
  public convenience init(_ name: String) {
    self.init(name, in: .process)
  }

  init(_ name: String, in session: DetectionSession) {
    self.name = name
    self.session = session
    registration = session.watchlist.opened(name)
  }

  deinit {
    session.watchlist.closed(registration)
    let (isOpen, alive) = state.withLock { state in
      if case .open = state.phase { (true, state.objects.values.count { $0.isAlive }) } else { (false, 0) }
    }
    guard isOpen else { return }
    session.watchlist.remark(
      "scopeNeverClosed",
      "scope \"\(name)\" went away without close(): \(alive) of its objects were alive and have not been checked")
  }

  /// Puts an object under the scope, and returns it.
  ///
  /// An object that was adopted already counts once. One that is being deallocated counts as gone. After the scope was
  /// closed nothing is adopted, and the report says so (diagnostic `adoptedAfterClose`).
  @discardableResult
  public func adopt<Object: AnyObject>(_ object: Object) -> Object {
    let handle = ObjectHandle(object)
    let isLate = state.withLock { state in
      guard case .open = state.phase else { return true }
      // A dead one at the same address was another object: a weak reference does not keep the address.
      let known = state.objects[handle.identity]
      if handle.isAlive, known?.isAlive != true { state.objects[handle.identity] = handle }
      return false
    }
    if isLate {
      session.watchlist.remark(
        "adoptedAfterClose", "\(handle.type) was adopted by scope \"\(name)\" after its end: it is not checked",
        frames: Self.backtrace())
    }
    return object
  }

  /// Ends the scope, and waits until its objects are gone.
  ///
  /// Returns as soon as all of them are. Meanwhile it runs the run loop of the calling thread, Foundation's and
  /// Undead's, so that timers and callbacks can let go. Closing a closed scope returns the same result again; while
  /// another thread closes it, an empty one.
  ///
  /// - Parameter grace: how long objects may take to go.
  @discardableResult
  public func close(grace: Duration = .seconds(1)) -> Outcome {
    // What earlier calls left on the stack must not be taken for references to the objects.
    undead_clear_stack()
    return closeNow(grace)
  }

  @inline(never)
  private func closeNow(_ grace: Duration) -> Outcome {
    guard var closing = beginClosing() else { return knownOutcome }
    if !closing.isDone { closing.frames = Self.backtrace() }
    _ = Patience.wait(grace) { closing.look() }
    let search = closing.survivorSearch()
    undead_clear_stack()
    return finish(closing, search.map { $0.run() })
  }

  /// Ends the scope, and waits until its objects are gone, letting other tasks run meanwhile.
  ///
  /// - Parameters:
  ///   - grace: how long objects may take to go, even if the task is cancelled.
  @discardableResult
  public nonisolated(nonsending) func close(grace: Duration = .seconds(1)) async -> Outcome {
    guard var closing = beginClosing() else { return knownOutcome }
    if !closing.isDone { closing.frames = Self.backtrace() }
    _ = await Patience.wait(grace) { closing.look() }
    let search = closing.survivorSearch()
    return finish(closing, await search?.run())
  }

  /// What became of the objects of a scope.
  public struct Outcome: Sendable {
    /// What is still alive: `abandoned` if something reachable holds it, `retainCycle` or `unreferenced` if not.
    public internal(set) var leaks: [LeakReport.Leak] = []
    /// What went within the grace time, but not at once.
    public internal(set) var releasedLate: [LateRelease] = []
    /// What the result does not show, one sentence each, such as why there are no retain paths.
    public internal(set) var notes: [String] = []

    /// True if nothing is alive.
    public var isClean: Bool { leaks.isEmpty }

    init(note: String? = nil) {
      notes = note.map { [$0] } ?? []
    }
  }

  /// An object that outlived its scope for a while.
  public struct LateRelease: Sendable, Equatable {
    /// Module-qualified type name.
    public var type: String
    /// How long after the end of the scope it was seen alive for the last time.
    public var delay: Duration
  }

  // MARK: Closing

  private func beginClosing() -> Closing? {
    let objects: [ObjectHandle]? = state.withLock { state in
      guard case .open = state.phase else { return nil }
      state.phase = .closing
      defer { state.objects = [:] }
      return Array(state.objects.values)
    }
    return objects.map { Closing(name, $0, in: session) }
  }

  private var knownOutcome: Outcome {
    state.withLock { state in
      if case .closed(let outcome) = state.phase { return outcome }
      return Outcome(note: "another thread is closing the scope \"\(name)\"")
    }
  }

  private func finish(_ closing: Closing, _ search: SurvivorSearch.Result?) -> Outcome {
    let outcome = closing.outcome(search)
    state.withLock { $0.phase = .closed(outcome) }
    session.watchlist.closed(registration)
    return outcome
  }

  private static let frameLimit = 256

  @inline(never)
  private static func backtrace() -> [UInt] {
    [UInt](unsafeUninitializedCapacity: frameLimit) { frames, count in
      count = Int(undead_exact_backtrace(frames.baseAddress, UInt32(frameLimit)))
    }
  }
}

/// Runs a body with a scope, closes the scope, and returns what the body returns.
///
/// The scope is closed even if the body throws. What the body returns is still held when the scope ends: do not return
/// an adopted object, also not as the value of a closure of one line. What outlives the scope is found in the report of
/// the process and, while it runs, by ``LeakDetector/checkForLeaks(options:)-7htwj``; for the result of one scope use
/// ``OwnerScope/close(grace:)-okq1``. May be called on any thread.
///
/// - Parameters:
///   - name: what the scope stands for, such as "Detail screen".
///   - grace: how long objects may take to go when the body has ended.
///   - body: gets the scope, to adopt objects with.
/// - Throws: what the body throws.
@discardableResult
public func withOwnerScope<Output, Failure: Error>(
  _ name: String, grace: Duration = .seconds(1), _ body: (OwnerScope) throws(Failure) -> Output
) throws(Failure) -> Output {
  let scope = OwnerScope(name)
  defer { scope.close(grace: grace) }
  return try body(scope)
}

/// Runs an asynchronous body with a scope, closes the scope, and returns what the body returns.
///
/// As the synchronous one; while it waits for the end of objects, other tasks run.
@discardableResult
public nonisolated(nonsending) func withOwnerScope<Output, Failure: Error>(
  _ name: String, grace: Duration = .seconds(1),
  _ body: (OwnerScope) async throws(Failure) -> Output
) async throws(Failure) -> Output {
  let scope = OwnerScope(name)
  let result = await Result(of: { () async throws(Failure) in try await body(scope) })
  await scope.close(grace: grace)
  return try result.get()
}
