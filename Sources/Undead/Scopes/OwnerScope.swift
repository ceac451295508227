import UndeadReport

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

  /// Opens a scope.
  ///
  /// - Parameter name: what the scope stands for, such as "Detail screen".
  public init(_ name: String) {
    self.name = name
  }

  /// Puts an object under the scope, and returns it.
  ///
  /// An object that was adopted already counts once. One that is being deallocated counts as gone. After the scope was
  /// closed nothing is adopted, and the report says so (diagnostic `adoptedAfterClose`).
  @discardableResult
  public func adopt<Object: AnyObject>(_ object: Object) -> Object {
    object
  }

  /// Ends the scope, and waits until its objects are gone.
  ///
  /// Returns as soon as all of them are. Meanwhile it runs the run loop of the calling thread, Foundation's and
  /// Undead's, so that timers and callbacks can let go. Closing a closed scope returns the same result again.
  ///
  /// - Parameter grace: how long objects may take to go.
  @discardableResult
  public func close(grace: Duration = .seconds(1)) -> Outcome {
    Outcome()
  }

  /// Ends the scope, and waits until its objects are gone, letting other tasks run meanwhile.
  ///
  /// - Parameter grace: how long objects may take to go; a cancelled task does not wait.
  @discardableResult
  public func close(grace: Duration = .seconds(1), isolation: isolated (any Actor)? = #isolation) async -> Outcome {
    Outcome()
  }

  /// What became of the objects of a scope.
  public struct Outcome: Sendable {
    /// What is still alive: `abandoned` if something reachable holds it, `retainCycle` or `unreferenced` if not.
    public internal(set) var leaks: [Leak] = []
    /// What went within the grace time, but not at once.
    public internal(set) var releasedLate: [LateRelease] = []
    /// What the result does not tell, one sentence each, such as why there are no retain paths.
    public internal(set) var notes: [String] = []

    /// True if nothing is alive.
    public var isClean: Bool { leaks.isEmpty }
  }

  /// An object that outlived its scope for a while.
  public struct LateRelease: Sendable, Equatable {
    /// Module-qualified type name.
    public var type: String
    /// How long after the end of the scope it was seen alive for the last time.
    public var delay: Duration
  }
}

/// Runs a body with a scope, closes the scope, and returns what the body returns.
///
/// The scope is closed also if the body throws. What outlives it is found in the report of the process and, while it
/// runs, by ``Undead/checkForLeaks(options:)``; for the result of one scope use ``OwnerScope/close(grace:)``.
@discardableResult
public func withOwnerScope<Result, Failure: Error>(
  _ name: String, grace: Duration = .seconds(1), _ body: (OwnerScope) throws(Failure) -> Result
) throws(Failure) -> Result {
  let scope = OwnerScope(name)
  defer { scope.close(grace: grace) }
  return try body(scope)
}

/// Runs an asynchronous body with a scope, closes the scope, and returns what the body returns.
///
/// The scope is closed also if the body throws.
@discardableResult
public func withOwnerScope<Result, Failure: Error>(
  _ name: String, grace: Duration = .seconds(1), isolation: isolated (any Actor)? = #isolation,
  _ body: (OwnerScope) async throws(Failure) -> Result
) async throws(Failure) -> Result {
  let scope = OwnerScope(name)
  do throws(Failure) {
    let result = try await body(scope)
    await scope.close(grace: grace)
    return result
  } catch {
    await scope.close(grace: grace)
    throw error
  }
}
