/// Leaks of one process that share a signature.
struct LeakGroup {
  var signature: StableHash
  /// Positions in the finder's list, the one that the report describes first; only a few.
  var samples: [Int] = []
  var count = 0
  var objectCount = 0
  var bytes = 0
  var holdsProgramObject: Bool
  /// Allocation stacks of the roots, the most frequent first.
  var stacks: [Snapshot.Index] = []
  /// The test that made the leaks; nil if they are not grouped by tests, or it is not known.
  var test: TestIdentity?
  /// What hangs off the leaks, by name of the type.
  var alsoLeaked: [String: TypeCount] = [:]

  static let sampleLimit = 5
}
