/// Leaks of one process that share a signature.
struct LeakGroup {
  var signature: StableHash
  /// Positions in the finder's list, ascending; only the first few.
  var samples: [Int] = []
  var count = 0
  var objectCount = 0
  var bytes = 0
  var holdsProgramObject: Bool
  /// Allocation stacks of the roots, in order of appearance.
  var stacks: [Snapshot.Index] = []
  /// The test that made the leaks; nil if they are not grouped by tests, or it is not known.
  var test: TestIdentity?
  private var knownStacks = Set<Snapshot.Index>()
  /// What hangs off the leaks, by name of the type.
  var alsoLeaked: [String: TypeCount] = [:]

  static let sampleLimit = 5

  init(signature: StableHash, holdsProgramObject: Bool, test: TestIdentity?) {
    self.signature = signature
    self.test = test
    self.holdsProgramObject = holdsProgramObject
  }

  mutating func add(_ leak: Int, allocatedAt stack: Snapshot.Index) {
    count += 1
    if samples.count < Self.sampleLimit { samples.append(leak) }
    if knownStacks.insert(stack).inserted { stacks.append(stack) }
  }
}

/// Sorts the leaks of a snapshot into groups and adds up what belongs to each.
struct LeakGrouping {
  private(set) var groups: [LeakGroup] = []
  private let snapshot: Snapshot
  private var groupOfLeak: [Int32]
  private var closureHashes: [UInt64: StableHash] = [:]

  /// - Parameter isExcluded: tells the leaks that another process's report has already.
  init(
    _ snapshot: Snapshot, _ finder: LeakFinder, _ names: inout NodeNames, _ frames: inout FrameNames,
    isExcluded: (Int) -> Bool
  ) {
    self.snapshot = snapshot
    groupOfLeak = [Int32](repeating: -1, count: finder.leaks.count)
    let holdsProgramObject = Self.programLeaks(finder, names)
    var known: [StableHash: Int] = [:]
    var origins = frames.tests.map { LeakOrigins(snapshot, $0) }
    for (leak, instance) in finder.leaks.enumerated() where !isExcluded(instance.root) {
      var signature = signature(of: instance, finder.graph, &names, &frames)
      let test = origins?.test(ofLeak: leak, finder, names, &frames)
      if let test { signature.mix(StableHash(test.fullName)) }
      var key = signature
      key.mix(holdsProgramObject[leak] ? 1 : 0)
      let group = known[key] ?? groups.count
      if group == groups.count {
        known[key] = group
        groups.append(LeakGroup(signature: signature, holdsProgramObject: holdsProgramObject[leak], test: test))
      }
      groupOfLeak[leak] = Int32(group)
      groups[group].add(leak, allocatedAt: snapshot.nodes[instance.root].stack)
    }
    addBlocks(finder, names)
  }

  /// The group of a leak by its position in the finder's list; nil if it was excluded.
  func group(ofLeak leak: Int) -> Int? {
    groupOfLeak[leak] < 0 ? nil : Int(groupOfLeak[leak])
  }

  private static func programLeaks(_ finder: LeakFinder, _ names: NodeNames) -> [Bool] {
    var result = [Bool](repeating: false, count: finder.leaks.count)
    for (node, owner) in finder.owner.enumerated() where owner >= 0 && names.isOfProgram(node) {
      if names.role(of: node) == .context && !holdsAnything(node, finder.graph) { continue }
      result[Int(owner)] = true
    }
    return result
  }

  /// False for a closure that captures values and weak references only: nothing of the program is lost with it.
  private static func holdsAnything(_ node: Int, _ graph: LeakGraph) -> Bool {
    graph.edges(of: node).contains(where: graph.follows)
  }

  private mutating func signature(
    of leak: LeakInstance, _ graph: LeakGraph, _ names: inout NodeNames, _ frames: inout FrameNames
  ) -> StableHash {
    var hash = StableHash(leak.cycle.isEmpty ? "unreferenced" : "retainCycle")
    hash.mix(leak.cycle.isEmpty ? names.typeHash(of: leak.root) : CycleFinder.hash(of: leak.cycle, from: graph, &names))
    for edge in leak.cycle { mixClosure(snapshot.edges[edge].function, into: &hash, &frames) }
    let node = snapshot.nodes[leak.root]
    hash.mix(frames.siteHash(node.stack))
    if node.explanation != Snapshot.none { hash.mix(frames.siteHash(node.explanation)) }
    return hash
  }

  private mutating func mixClosure(_ address: UInt64, into hash: inout StableHash, _ frames: inout FrameNames) {
    guard address != 0 else { return }
    if let known = closureHashes[address] { return hash.mix(known) }
    let known = StableHash(frames.closure(at: address)?.symbol ?? "")
    closureHashes[address] = known
    hash.mix(known)
  }

  private mutating func addBlocks(_ finder: LeakFinder, _ names: NodeNames) {
    var isCore = [Bool](repeating: false, count: finder.graph.nodeCount)
    for leak in finder.leaks {
      isCore[leak.root] = true
      for edge in leak.cycle { isCore[finder.graph.source(of: edge)] = true }
    }
    /// Number, bytes of the blocks of a type in a group, and one of them.
    struct Sum {
      var node: Int
      var count = 0
      var bytes = 0
    }
    var sums: [UInt64: Sum] = [:]
    for (node, owner) in finder.owner.enumerated() where owner >= 0 && groupOfLeak[Int(owner)] >= 0 {
      let group = Int(groupOfLeak[Int(owner)])
      let record = snapshot.nodes[node]
      groups[group].bytes.addSaturating(record.size)
      if record.state != .support { groups[group].objectCount += 1 }
      guard !isCore[node] else { continue }
      let type = record.state == .raw ? UInt32.max - 1 : record.type
      let key = UInt64(group) << 32 | UInt64(type)
      var sum = sums[key] ?? Sum(node: node)
      sum.count += 1
      sum.bytes.addSaturating(record.size)
      sums[key] = sum
    }
    for (key, sum) in sums {
      let name = names.type(of: sum.node)
      var total = groups[Int(key >> 32)].alsoLeaked[name] ?? TypeCount(type: name, count: 0, bytes: 0)
      total.count += sum.count
      total.bytes.addSaturating(UInt64(sum.bytes))
      groups[Int(key >> 32)].alsoLeaked[name] = total
    }
  }
}

extension Int {
  /// Adds a size from a file, which may be anything, without overflow.
  mutating func addSaturating(_ size: UInt64) {
    let (sum, overflow) = addingReportingOverflow(Int(clamping: size))
    self = overflow ? .max : sum
  }
}
