import UndeadSystem

/// Sorts the leaks of a snapshot into groups and adds up what belongs to each.
struct LeakGrouping {
  private(set) var groups: [LeakGroup] = []
  private let snapshot: Snapshot
  private var groupOfLeak: [Int32]

  /// - Parameter isExcluded: shows the leaks that another process's report has already.
  init(
    _ snapshot: Snapshot, _ finder: LeakFinder, _ names: NodeNames, _ frames: FrameNames,
    isExcluded: (Int) -> Bool
  ) {
    self.snapshot = snapshot
    groupOfLeak = [Int32](repeating: -1, count: finder.leaks.count)
    let holdsProgramObject = Self.programLeaks(finder, names)
    var known: [StableHash: Int] = [:]
    var origins = frames.tests.map { LeakOrigins(snapshot, $0) }
    for (leak, instance) in finder.leaks.enumerated() where !isExcluded(instance.root) {
      var signature = instance.signature
      let test = origins?.test(ofLeak: leak, finder, names, frames)
      if let test { signature.mix(StableHash(test.fullName)) }
      var key = signature
      key.mix(holdsProgramObject[leak] ? 1 : 0)
      let group = known[key] ?? groups.count
      if group == groups.count {
        known[key] = group
        groups.append(LeakGroup(signature: signature, holdsProgramObject: holdsProgramObject[leak], test: test))
      } else if let test, let first = groups[group].test, test.precedes(first) {
        groups[group].test = test
      }
      groupOfLeak[leak] = Int32(group)
      groups[group].count += 1
    }
    let contents = addBlocks(finder, names)
    chooseSamples(finder, contents, frames)
  }

  /// The group of a leak by its position in the finder's list; nil if it was excluded.
  func group(ofLeak leak: Int) -> Int? {
    groupOfLeak[leak] < 0 ? nil : Int(groupOfLeak[leak])
  }

  /// Takes leaks of the most frequent backtrace first, and of these the biggest: which ones come first in memory says
  /// nothing.
  private mutating func chooseSamples(_ finder: LeakFinder, _ contents: [Contents], _ frames: FrameNames) {
    var counts = [[Snapshot.Index: Int]](repeating: [:], count: groups.count)
    for (leak, instance) in finder.leaks.enumerated() where groupOfLeak[leak] >= 0 {
      counts[Int(groupOfLeak[leak])][stack(instance, finder, frames), default: 0] += 1
    }
    for group in groups.indices {
      let keyed = counts[group].map { stack, count in
        // Backtraces come first.
        let isUnknown = frames.isSampled && stack == Snapshot.none
        let hash = counts[group].count == 1 ? StableHash() : frames.stackHash(stack)
        // Calls of one line may be many places of the code: the same one comes first whenever a snapshot is shown.
        return (stack, key: (isUnknown ? 1 : -count, hash, stack))
      }
      groups[group].stacks = keyed.ordered { $0.key < $1.key }.map(\.0)
    }
    let ranks = groups.map { group in
      Dictionary(uniqueKeysWithValues: group.stacks.enumerated().map { ($1, $0) })
    }
    func key(_ leak: Int) -> (Int, Int, UInt64) {
      let ranks = ranks[Int(groupOfLeak[leak])]
      let rank = ranks.count == 1 ? 0 : ranks[stack(finder.leaks[leak], finder, frames)] ?? 0
      return (rank, -contents[leak].bytes, contents[leak].look)
    }
    for leak in finder.leaks.indices where groupOfLeak[leak] >= 0 {
      let group = Int(groupOfLeak[leak])
      let samples = groups[group].samples
      if samples.count == LeakGroup.sampleLimit, key(samples[samples.count - 1]) <= key(leak) { continue }
      let place = samples.firstIndex { key(leak) < key($0) } ?? samples.count
      groups[group].samples.insert(leak, at: place)
      if groups[group].samples.count > LeakGroup.sampleLimit { groups[group].samples.removeLast() }
    }
  }

  /// The backtrace of a leak's root. In a sample one of another object of its cycle has to do, if it is the only one.
  private func stack(_ leak: LeakInstance, _ finder: LeakFinder, _ frames: FrameNames) -> Snapshot.Index {
    let ofRoot = snapshot.nodes[leak.root].stack
    guard frames.isSampled, ofRoot == Snapshot.none else { return ofRoot }
    return leak.cycle.lazy.map { snapshot.nodes[finder.graph.source(of: $0)].stack }.first { $0 != Snapshot.none }
      ?? Snapshot.none
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

  /// What the blocks of a leak add up to.
  private struct Contents {
    var bytes = 0
    var look: UInt64 = 0
  }

  /// Adds up the blocks of each group and of each leak.
  private mutating func addBlocks(_ finder: LeakFinder, _ names: NodeNames) -> [Contents] {
    var contents = [Contents](repeating: Contents(), count: finder.leaks.count)
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
      contents[Int(owner)].bytes.addSaturating(record.size)
      contents[Int(owner)].look &+= finder.look(ofBlock: node)
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
    return contents
  }
}
