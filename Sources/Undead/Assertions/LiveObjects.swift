import UndeadReport

/// Counts the objects of a class that are alive.
package struct LiveObjects: Sendable {
  /// Objects of the class and its subclasses that were allocated since recording began and are not deinitialised.
  package var count: Int
  /// If there are more than allowed: some of them with what keeps them alive and where they were allocated.
  package var examples: [Leak]

  /// Counts; looks for retain paths only if there are more than `limit`.
  ///
  /// - Throws: ``UndeadError`` if the instrument is not active or the count could not be made.
  package static func count<Object: AnyObject>(
    of type: Object.Type, atMost limit: Int = .max, in session: DetectionSession = .process
  ) throws(UndeadError) -> LiveObjects {
    let entries = try Census().entries.filter { $0.type is Object.Type }
    let count = entries.reduce(0) { $0 + $1.objects }
    guard count > limit else { return LiveObjects(count: count, examples: []) }
    let name = "at most \(limit) \(limit == 1 ? "object" : "objects")"
    let examples = try ExampleSearch.leaks(of: Array(entries.prefix(exampleLimit)), name: name, in: session)
    return LiveObjects(count: count, examples: examples.compactMap { $0 })
  }

  private static let exampleLimit = 8
}
