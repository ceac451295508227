import UndeadReport

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
  /// What the result does not show, one sentence each, such as why there are no retain paths.
  package internal(set) var notes: [String] = []
}
