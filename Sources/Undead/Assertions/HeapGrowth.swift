import UndeadReport

/// Finds what grows each time a scenario is repeated, although everything that it made should be gone again.
///
/// After LeakCanary's heap growth detection: only types with more live objects after each repetition are reported.
package enum HeapGrowth {
  /// A type whose objects became more after each repetition.
  package struct Growth: Sendable {
    /// Module-qualified type name.
    package var type: String
    /// Live objects after the warm-up and after each repetition.
    package var counts: [Int]
    /// One of the new objects: the retain path that keeps it, and where it was allocated.
    package var example: Leak
  }

  /// Repeats a body and returns what grew, the most first.
  ///
  /// - Parameters:
  ///   - iterations: how often the body runs and is measured, at least 2.
  ///   - warmUp: how often the body runs before that, unmeasured: caches fill up.
  /// - Throws: what the body throws, or ``UndeadError`` if a measurement could not be made.
  package static func measure(
    iterations: Int = 5, warmUp: Int = 2, _ body: () throws -> Void
  ) throws -> [Growth] {
    []
  }

  /// The same for an asynchronous body.
  package static func measure(
    iterations: Int = 5, warmUp: Int = 2, isolation: isolated (any Actor)? = #isolation, _ body: () async throws -> Void
  ) async throws -> [Growth] {
    []
  }
}
