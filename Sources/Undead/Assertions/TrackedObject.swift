import UndeadReport

/// An object that must be gone at some later moment. Never keeps it alive.
///
/// An object that is being deallocated counts as gone.
package struct TrackedObject: Sendable {
  /// Module-qualified type name.
  package let type: String
  private let reference: WeakReference

  package init(_ object: AnyObject) {
    type = String(reflecting: Swift.type(of: object))
    reference = WeakReference(object)
  }

  /// True until the object's deinitialisation begins.
  package var isAlive: Bool { reference.isAlive }

  /// Waits until the objects are gone, and finds out what holds the others.
  ///
  /// Never scans if all of them are gone. While it waits it runs the run loop of the calling thread.
  ///
  /// - Parameters:
  ///   - name: what reports call the scope of the objects, such as the name of a test.
  ///   - grace: how long the objects may take to go.
  package static func check(
    _ objects: [TrackedObject], name: String, grace: Duration = .seconds(1)
  ) -> TrackingResult {
    TrackingResult()
  }

  /// The same, letting other tasks run while it waits.
  package static func check(
    _ objects: [TrackedObject], name: String, grace: Duration = .seconds(1),
    isolation: isolated (any Actor)? = #isolation
  ) async -> TrackingResult {
    TrackingResult()
  }
}

/// What is still alive of objects that should be gone.
package struct TrackingResult: Sendable {
  /// An object that is alive.
  package struct Survivor: Sendable {
    /// Position of the object in what was asked for.
    package var index: Int
    /// Why it is alive: `abandoned` with a retain path, or a leak. Without recording only the type is known.
    package var leak: Leak
  }

  package internal(set) var survivors: [Survivor] = []
  /// What the result does not tell, one sentence each, such as why there are no retain paths.
  package internal(set) var notes: [String] = []
}
