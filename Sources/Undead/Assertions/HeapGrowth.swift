import UndeadReport

/// Finds what grows each time a scenario is repeated, although everything that it made should be gone again.
///
/// After LeakCanary's heap growth detection, with the difference that an object counts for the repetition in which it
/// was born (``AllocationScope``), so that what other threads do meanwhile does not matter. Reported are types of which
/// objects of every repetition are left; of types whose objects hold each other only the outermost. What a repetition
/// replaces, such as a cache of limited size, does not grow.
package enum HeapGrowth {
  /// A type whose objects became more with each repetition.
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
  ///   - iterations: how often the body runs and is measured, from 2 to 64.
  ///   - warmUp: how often the body runs before that, unmeasured: caches fill up.
  ///   - session: the one that asks.
  /// - Returns: what grew, or why a measurement could not be made.
  /// - Throws: what the body throws.
  package static func measure<Failure: Error>(
    iterations: Int = 5, warmUp: Int = 2, in session: DetectionSession = .process,
    _ body: () throws(Failure) -> Void
  ) throws(Failure) -> Result<[Growth], UndeadError> {
    for _ in 0..<max(0, warmUp) { try body() }
    let scopes = scopes(iterations, session)
    for scope in scopes { try scope.run(body) }
    return Result { () throws(UndeadError) in
      let grown = try grown(in: scopes.map(\.number))
      guard !grown.isEmpty else { return [] }
      return growths(grown, try ExampleSearch.leaks(of: grown, name: name, in: session))
    }
  }

  /// The same for an asynchronous body.
  package static nonisolated(nonsending) func measure<Failure: Error>(
    iterations: Int = 5, warmUp: Int = 2, in session: DetectionSession = .process,
    _ body: () async throws(Failure) -> Void
  ) async throws(Failure) -> Result<[Growth], UndeadError> {
    for _ in 0..<max(0, warmUp) { try await body() }
    let scopes = scopes(iterations, session)
    for scope in scopes { try await scope.run(body) }
    let numbers = scopes.map(\.number)
    return await Result(of: { () async throws(UndeadError) in
      let census = await OwnThread.run { Result { () throws(UndeadError) in try Self.grown(in: numbers) } }
      let grown = try census.get()
      guard !grown.isEmpty else { return [] }
      return growths(grown, try await ExampleSearch.leaks(of: grown, name: name, in: session))
    })
  }

  private static let name = "a repetition of the scenario"
  private static let typeLimit = 32

  private static func scopes(_ iterations: Int, _ session: DetectionSession) -> [AllocationScope] {
    (0..<min(max(2, iterations), Census.scopeLimit)).map { AllocationScope("repetition \($0 + 1)", in: session) }
  }

  /// Types with objects left of each repetition, the most first.
  private static func grown(in scopes: [UInt32]) throws(UndeadError) -> [Census.Entry] {
    let entries = try Census(scopes: scopes).entries.filter { entry in entry.born.allSatisfy { $0 > 0 } }
    let sorted = entries.sorted { ($0.born.reduce(0, +), $1.isa) > ($1.born.reduce(0, +), $0.isa) }
    return Array(sorted.prefix(typeLimit))
  }

  private static func growths(_ grown: [Census.Entry], _ examples: [Leak?]) -> [Growth] {
    let all = zip(grown, examples).compactMap { entry, example in
      example.map { Growth(type: $0.objects.first?.type ?? "object", counts: counts(entry), example: $0) }
    }
    let types = Set(all.map(\.type))
    // What an object of another growing type holds goes when that one goes.
    let outermost = all.filter { growth in
      !(growth.example.retainPath ?? []).dropLast().contains { $0.type != growth.type && types.contains($0.type) }
    }
    return outermost.isEmpty ? all : outermost
  }

  private static func counts(_ entry: Census.Entry) -> [Int] {
    var count = entry.objects - entry.born.reduce(0, +)
    return [count]
      + entry.born.map { born in
        count += born
        return count
      }
  }
}
