/// Finds the tests that made the leaks of a snapshot.
struct LeakOrigins {
  private let snapshot: Snapshot
  private let tests: TestFinder
  private var known: [Snapshot.Index: TestIdentity?] = [:]

  init(_ snapshot: Snapshot, _ tests: TestFinder) {
    self.snapshot = snapshot
    self.tests = tests
  }

  private static let blockLimit = 1000

  /// The test that made a leak: what leaked first, then closures on its cycle, then what hangs off it.
  mutating func test(
    ofLeak leak: Int, _ finder: LeakFinder, _ names: NodeNames, _ frames: FrameNames
  ) -> TestIdentity? {
    let instance = finder.leaks[leak]
    let core = instance.cycle.isEmpty ? [instance.root] : instance.cycle.map(finder.graph.source)
    // XCTest keeps every test case: that is nothing that a test did.
    if core.contains(where: { names.type(of: $0).hasPrefix("XCTest.") }) { return nil }
    if let test = test(ofAnyOf: [instance.root] + core, frames) { return test }
    for edge in instance.cycle {
      if let closure = frames.closure(at: snapshot.edges[edge].function), let test = tests.test(of: closure) {
        return test
      }
    }
    return test(ofAnyOf: finder.blocks(of: leak, limit: Self.blockLimit), frames)
  }

  private mutating func test(ofAnyOf nodes: some Sequence<Int>, _ frames: FrameNames) -> TestIdentity? {
    for node in nodes {
      let record = snapshot.nodes[node]
      for stack in [record.stack, record.explanation] where stack != Snapshot.none {
        if let test = test(ofStack: stack, frames) { return test }
      }
    }
    return nil
  }

  private mutating func test(ofStack stack: Snapshot.Index, _ frames: FrameNames) -> TestIdentity? {
    if let test = known[stack] { return test }
    let test = tests.test(in: frames.backtrace(stack))
    known[stack] = .some(test)
    return test
  }
}
