import UndeadReport

/// Finds out what keeps some of the objects that a census gave as examples.
enum ExampleSearch {
  /// - Parameters:
  ///   - name: what the reports call the scope.
  ///   - session: whose reports have them.
  /// - Returns: for each entry what keeps its first example that is still there; nil if all have gone.
  static func leaks(
    of entries: [Census.Entry], name: String, in session: DetectionSession
  ) throws(UndeadError) -> [Leak?] {
    let candidates = candidates(entries, name, session)
    defer { session.watchlist.removeCandidates(candidates) }
    return try LeakSearch.run(session.instrument) { evaluate($0, entries, session) }
  }

  /// The same while the task is suspended.
  static nonisolated(nonsending) func leaks(
    of entries: [Census.Entry], name: String, in session: DetectionSession
  ) async throws(UndeadError) -> [Leak?] {
    let candidates = candidates(entries, name, session)
    defer { session.watchlist.removeCandidates(candidates) }
    return try await LeakSearch.run(session.instrument) { evaluate($0, entries, session) }
  }

  private static func candidates(_ entries: [Census.Entry], _ name: String, _ session: DetectionSession) -> UInt64 {
    session.watchlist.addCandidates(
      entries.flatMap { entry in
        entry.samples.map { Watchlist.Candidate(object: $0, isa: entry.isa, scope: name) }
      })
  }

  private static func evaluate(
    _ snapshot: borrowing Snapshot, _ entries: [Census.Entry], _ session: DetectionSession
  ) -> [Leak?] {
    let selection = LeakSelection(copy snapshot, reported: session.reported)
    var nodes: [UInt64: Int] = [:]
    for (index, node) in snapshot.nodes.enumerated() { nodes[node.address] = index }
    return entries.map { entry in
      for sample in entry.samples {
        if let node = nodes[sample.address], let leak = selection.explanation(of: node) { return leak }
      }
      return nil
    }
  }
}
