import UndeadSystem

/// The findings in the snapshot of one process, before suppressions.
final class ProcessAnalysis {
  private(set) var leaks: [Leak] = []
  private(set) var knownLeaks: [Leak] = []
  private(set) var suspects: [Suspect] = []
  private(set) var keptAlone: [KeptAlone] = []
  private(set) var diagnostics: [Diagnostic] = []
  private(set) var zombies: [Zombie] = []

  private let snapshot: Snapshot
  private let chain: ReferenceChain
  private let names: NodeNames
  private let counts: ReferenceCounts
  private let frames: FrameNames

  /// Objects that a process and the children that it forked have in common.
  struct Identity: Hashable {
    var address: UInt64
    var type: String
    var stack: [UInt64]
  }

  /// - Parameter inherited: what the parent's report covers, for a child that was forked.
  init(_ snapshot: Snapshot, symbols: SymbolTable, inherited: Set<Identity> = []) {
    self.snapshot = snapshot
    chain = ReferenceChain(snapshot)
    frames = FrameNames(snapshot, symbols: symbols)
    names = NodeNames(snapshot, frames.packages)
    counts = ReferenceCounts(snapshot, names)
    let ways = Ways(snapshot, names, frames, isNeeded: !snapshot.suspects.isEmpty || !snapshot.watched.isEmpty)
    findLeaks(inherited)
    findAbandoned(inherited, ways)
    readDiagnostics()
    let builder = SuspectBuilder(snapshot, ways: ways, counts: counts, names: names, frames: frames)
    suspects = builder.build()
    keptAlone = builder.buildKeptAlone()
    findCyclesOfFrames(inherited)
  }

  /// What leaked in a process, to be left out of the report of its children.
  static func identities(_ snapshot: Snapshot) -> Set<Identity> {
    let names = NodeNames(snapshot)
    var result = Set<Identity>()
    for (node, record) in snapshot.nodes.enumerated() where record.state == .leaked || record.state == .raw {
      result.insert(identity(node, snapshot, names))
    }
    for record in snapshot.watched { result.insert(identity(Int(record.node), snapshot, names)) }
    return result
  }

  private static func identity(_ node: Int, _ snapshot: Snapshot, _ names: NodeNames) -> Identity {
    let record = snapshot.nodes[node]
    return Identity(
      address: record.address, type: names.type(of: node), stack: Array(snapshot.addresses(ofStack: record.stack)))
  }

  private func findLeaks(_ inherited: Set<Identity>) {
    var finder = LeakFinder(snapshot, names, frames)
    let grouping = LeakGrouping(snapshot, finder, names, frames) { [snapshot, names] root in
      !inherited.isEmpty && inherited.contains(Self.identity(root, snapshot, names))
    }
    let scopes = scopes(grouping, finder)
    var testCases = Set<Int>()
    for (number, group) in grouping.groups.enumerated() where add(group, &finder, scope: scopes[number]) {
      testCases.insert(number)
    }
    guard !testCases.isEmpty else { return }
    findCycles { [names] node in
      let owner = finder.owner[node]
      return owner >= 0 && grouping.group(ofLeak: Int(owner)).map(testCases.contains) ?? false
        && !names.type(of: node).hasPrefix("XCTest.")
    }
  }

  /// The scope that a leaked object, or what holds it, outlived, by group.
  private func scopes(_ grouping: LeakGrouping, _ finder: LeakFinder) -> [Int: Leak.Scope] {
    var scopes: [Int: Leak.Scope] = [:]
    for record in snapshot.watched {
      let owner = finder.owner[Int(record.node)]
      guard owner >= 0, let group = grouping.group(ofLeak: Int(owner)), scopes[group] == nil else { continue }
      scopes[group] = Leak.Scope(name: snapshot.strings[record.scope], backtrace: frames.scopeEnd(record.stack))
    }
    return scopes
  }

  private func findAbandoned(_ inherited: Set<Identity>, _ ways: Ways) {
    guard !snapshot.watched.isEmpty else { return }
    let builder = AbandonedBuilder(snapshot, ways: ways, counts: counts, names: names, frames: frames)
    leaks += builder.build { node in
      !inherited.isEmpty && inherited.contains(Self.identity(node, snapshot, names))
    }
  }

  private func readDiagnostics() {
    var traces: [Snapshot.Index: [Diagnostic.Trace]] = [:]
    for trace in snapshot.traces {
      traces[trace.diagnostic, default: []].append(
        Diagnostic.Trace(role: snapshot.strings[trace.role], frames: frames.backtrace(trace.stack).frames))
    }
    for (number, record) in snapshot.diagnostics.enumerated() {
      let diagnostic = Diagnostic(
        kind: snapshot.strings[record.kind], message: snapshot.strings[record.message],
        details: Diagnostic.details(snapshot.strings[record.details]),
        backtrace: record.stack == Snapshot.none ? nil : frames.backtrace(record.stack),
        backtraces: traces[Snapshot.Index(number)])
      // A call to a freed object that was prevented is a zombie like one that was made.
      if diagnostic.kind == "timerTarget" {
        zombies.append(Zombie(preventedBy: diagnostic))
      } else {
        diagnostics.append(diagnostic)
      }
    }
  }

  /// Finds the cycles that the program made among objects that XCTest keeps: they would leak without XCTest too.
  private func findCycles(among isIncluded: (Int) -> Bool) {
    var part = snapshot
    for node in part.nodes.indices where !isIncluded(node) { part.nodes[node].state = .live }
    var finder = LeakFinder(part, names, frames, scope: .programCycles)
    let grouping = LeakGrouping(part, finder, names, frames) { _ in false }
    for group in grouping.groups { _ = add(group, &finder, scope: nil) }
  }

  /// Finds the retain cycles that nobody owns, but that a frame of a thread names: they look like leaks.
  private func findCyclesOfFrames(_ inherited: Set<Identity>) {
    let records = snapshot.suspects.filter(\.isOfFrame)
    guard !records.isEmpty else { return }
    var part = snapshot
    for node in part.nodes.indices { part.nodes[node].state = .live }
    for record in records { part.nodes[Int(record.node)].state = state(ofSuspect: Int(record.node)) }
    // What outlived its scope is a leak, and said to be one.
    let excluded = Set(snapshot.watched.map { Int($0.node) })
    var finder = LeakFinder(part, names, frames)
    let grouping = LeakGrouping(part, finder, names, frames) { [snapshot, names, finder] root in
      excluded.contains { finder.owner[$0] >= 0 && finder.owner[$0] == finder.owner[root] }
        || (!inherited.isEmpty && inherited.contains(Self.identity(root, snapshot, names)))
    }
    for (number, group) in grouping.groups.enumerated() where group.holdsProgramObject {
      let (leak, facts) = leak(group, &finder, scope: nil)
      guard facts.isCycle, leak.reason == nil else { continue }
      let named = records.filter { record in
        let owner = finder.owner[Int(record.node)]
        return record.path != Snapshot.none && owner >= 0 && grouping.group(ofLeak: Int(owner)) == number
      }
      suspects.append(Suspect(leak, retainPath: pathOfFrame(named, finder)))
    }
  }

  /// Memory that is no object is not a leak of its own there.
  private func state(ofSuspect node: Int) -> Snapshot.State {
    let type = snapshot.nodes[node].type
    return type == Snapshot.none || snapshot.types[Int(type)].kind == .other ? .support : .leaked
  }

  /// From a frame to the first object of a cycle, else to another one of it, else to what hangs off it.
  private func pathOfFrame(_ records: [Snapshot.SuspectRecord], _ finder: LeakFinder) -> [PathStep] {
    func key(_ record: Snapshot.SuspectRecord) -> (Int, UInt64, UInt32, UInt64) {
      let node = Int(record.node)
      let leak = finder.leaks[Int(finder.owner[node])]
      let isOfCycle = Int(finder.components.component[node]) == leak.component
      let path = snapshot.paths[Int(record.path)]
      return (leak.root == node ? 0 : isOfCycle ? 1 : 2, finder.look(ofBlock: node), path.thread, path.rootAddress)
    }
    guard let record = records.min(by: { key($0) < key($1) }) else { return [] }
    let paths = RetainPaths(snapshot)
    return paths.steps(root: record.path, paths.edges(of: record.path), to: Int(record.node), names, frames)
  }

  /// Adds a group to the leaks or to the known ones; true if it is a test case that XCTest keeps.
  private func add(_ group: LeakGroup, _ finder: inout LeakFinder, scope: Leak.Scope?) -> Bool {
    var (leak, facts) = leak(group, &finder, scope: scope)
    if leak.reason == nil {
      leaks.append(leak)
    } else {
      leak.advice = nil
      knownLeaks.append(leak)
    }
    return facts.isTestCase
  }

  /// What is reported of a group.
  private func leak(
    _ group: LeakGroup, _ finder: inout LeakFinder, scope: Leak.Scope?
  ) -> (Leak, LeakFacts) {
    let instance = finder.leaks[group.samples[0]]
    let blocks = finder.blocks(of: group.samples[0])
    let path = instance.cycle.isEmpty ? pathToProgram(from: instance.root, finder) : []
    let cycle = shortened(instance.cycle)
    let references = chain.references(cycle.isEmpty ? path : cycle, names, frames)
    let facts = facts(instance, group, references, finder)
    var leak = Leak(
      signature: group.signature.hexadecimal, kind: facts.isCycle ? .retainCycle : .unreferenced, count: group.count,
      objectCount: group.objectCount, totalBytes: group.bytes, objects: objects(group, finder),
      alsoLeaked: alsoLeaked(group), scope: scope,
      allocation: facts.allocation,
      suspended: facts.suspended, advice: Advice.text(for: facts))
    if facts.isCycle { leak.cycle = references }
    if cycle.count < instance.cycle.count { leak.omittedReferences = instance.cycle.count - cycle.count }
    leak.test = group.test
    leak.certainty = Certainty.merged(
      blocks.prefix(Self.startLimit).map { block in
        let node = snapshot.nodes[block]
        return Certainty(flags: node.flags, strong: UInt32(node.strong), counted: UInt32(node.counted))
      })
    let core = instance.cycle.isEmpty ? [instance.root] : instance.cycle.map(finder.graph.source)
    leak.references = counts.references(
      toOneOf: core.prefix(2 * Self.toldReferences).filter { names.role(of: $0).isVisible }, names, frames)
    addOtherAllocations(of: group, to: &leak)
    if !path.isEmpty, let end = path.last.map(finder.graph.end) {
      leak.retainPath = references.map { PathStep($0) } + [PathStep(type: names.type(of: end), field: "")]
    }
    let inner = remainingCycle(leak, instance, &finder) + innerCycles(blocks, outside: instance.component, &finder)
    if !inner.isEmpty { leak.innerCycles = inner }
    leak.reason = KnownLeaks.reason(for: facts)
    return (leak, facts)
  }

  /// So many references of a cycle are shown at its start, and so many at its end.
  private static let toldReferences = 5000

  /// The start and the end of a cycle that nobody could read as a whole; others as they are.
  private func shortened(_ cycle: [Int]) -> [Int] {
    guard cycle.count > 2 * Self.toldReferences else { return cycle }
    // What the compiler makes between two objects would be taken for a part of the reference before it.
    let end = cycle.suffix(Self.toldReferences).drop { !names.role(of: Int(snapshot.edges[$0].from)).isVisible }
    return Array(cycle.prefix(Self.toldReferences) + end)
  }

  /// Ways on which the allocating function was reached for other leaks of the group.
  private func addOtherAllocations(of group: LeakGroup, to leak: inout Leak) {
    var seen: Set<[Frame]> = [leak.allocation.callPath]
    var others: [Backtrace] = []
    for stack in group.stacks.prefix(1000) where stack != Snapshot.none {
      let backtrace = frames.backtrace(stack)
      if seen.insert(backtrace.callPath).inserted { others.append(backtrace) }
    }
    guard !others.isEmpty else { return }
    leak.allocationPaths = others.count + 1
    leak.otherAllocations = Array(others.prefix(Leak.otherAllocationLimit))
  }

  private func alsoLeaked(_ group: LeakGroup) -> [TypeCount] {
    group.alsoLeaked.values.ordered(by: TypeCount.mostBytesFirst).map { type in
      var type = type
      type.package = frames.packages.package(ofType: type.type)
      return type
    }
  }

  private func facts(
    _ leak: LeakInstance, _ group: LeakGroup, _ references: [Reference], _ finder: LeakFinder
  ) -> LeakFacts {
    let nodes = leak.cycle.isEmpty ? [leak.root] : leak.cycle.map(finder.graph.source)
    let record = snapshot.nodes[leak.root]
    let explained = nodes.first { snapshot.nodes[$0].explanation != Snapshot.none }
    // Not every block of the toolchain has a stack: then the next object of the cycle shows more.
    let allocated = nodes.first { snapshot.nodes[$0].stack != Snapshot.none }
    let package = references.package
    let stack = package == nil ? nil : startOfUser(nodes, leak, finder)
    var facts = LeakFacts(
      isCycle: !leak.cycle.isEmpty, references: Array(references.prefix(64)),
      lazyFields: Set(leak.cycle.filter(names.isLazy).map(names.label)), rootType: names.type(of: leak.root),
      rootRole: names.role(of: leak.root), foreignHolder: finder.foreignHolder[leak.root].map(names.type),
      roles: Set(nodes.map(names.role)),
      types: Set(group.alsoLeaked.keys).union(names.types(of: nodes)),
      holdsProgramObject: group.holdsProgramObject, isTestCase: isTestCase(references),
      allocation: frames.backtrace(stack ?? allocated.map { snapshot.nodes[$0].stack } ?? record.stack),
      package: package ?? frames.packages.package(ofType: names.type(of: leak.root)),
      suspended: explained.map { frames.backtrace(snapshot.nodes[$0].explanation) })
    facts.alsoCaptured = otherCaptures(leak, finder)
    return facts
  }

  /// What the closure of a cycle captures besides, and leads back as well: without the one the other keeps them.
  private func otherCaptures(_ leak: LeakInstance, _ finder: LeakFinder) -> [String] {
    let contexts = leak.cycle.indices.filter { names.role(of: finder.graph.source(of: leak.cycle[$0])) == .context }
    guard contexts.count == 1, let place = contexts.first, leak.cycle.count > 1 else { return [] }
    let before = snapshot.edges[leak.cycle[place == 0 ? leak.cycle.count - 1 : place - 1]]
    return chain.otherCaptures(besides: leak.cycle[place], names)
      .filter { finder.components.component[Int(snapshot.edges[$0].to)] == Int32(leak.component) }
      .map { chain.captureName($0, of: before.function, names, frames) }
  }

  private static let startLimit = 200

  /// The stack of the first block on which the user's code is, of a leak that is a dependency's own; nil if there is none.
  private func startOfUser(_ nodes: [Int], _ leak: LeakInstance, _ finder: LeakFinder) -> Snapshot.Index? {
    let number = Int(finder.owner[leak.root])
    let others = number < 0 ? [] : finder.blocks(of: number, limit: Self.startLimit)
    for node in nodes.prefix(Self.startLimit) + others {
      let stack = snapshot.nodes[node].stack
      if stack != Snapshot.none, frames.backtrace(stack).start != nil { return stack }
    }
    return nil
  }

  /// XCTest's runs and test cases hold each other by these fields.
  private func isTestCase(_ references: [Reference]) -> Bool {
    let own = references.filter { !$0.type.hasPrefix("XCTest.") }
    return own.count < references.count && own.allSatisfy { $0.field == "testRun" || $0.field == "_testRun" }
  }

  /// Roots of some leaks of the group, then the other objects of the first one's cycle.
  private func objects(_ group: LeakGroup, _ finder: LeakFinder) -> [LeakedObject] {
    var nodes = group.samples.map { finder.leaks[$0].root }
    let cycle = finder.leaks[group.samples[0]].cycle.map(finder.graph.source)
    for node in cycle where nodes.count < 8 && !nodes.contains(node) && names.role(of: node).isVisible {
      nodes.append(node)
    }
    return nodes.map { LeakedObject(snapshot.nodes[$0], type: names.type(of: $0)) }
  }

  /// Shortest way from an object that says little to an object of the program; empty if there is none.
  private func pathToProgram(from root: Int, _ finder: LeakFinder) -> [Int] {
    guard names.role(of: root) != .program else { return [] }
    return Ways.way(
      from: root, snapshot, edges: finder.graph.edges, follows: finder.graph.follows,
      isEnd: { names.role(of: $0) == .program }, look: finder.look(ofReference:))
  }

  private static let remainingLimit = 8

  /// The cycle through the same objects that is still there when the reference to blame for a leak does not own any more.
  private func remainingCycle(
    _ leak: Leak, _ instance: LeakInstance, _ finder: inout LeakFinder
  ) -> [[Reference]] {
    // What ends a task ends all that its frames hold.
    func isOfUser(_ references: [Reference]) -> Bool { references.allSatisfy { $0.isOfUser && !$0.isOfRuntime } }
    guard let cycle = leak.cycle, isOfUser(cycle), let index = Blame.of(leak).reference else { return [] }
    let culprit = cycle[index]
    var without: Set<Int> = []
    var edges = instance.cycle
    var references = cycle
    // The same mistake may have been made several times.
    for _ in 0..<Self.remainingLimit {
      guard let index = references.firstIndex(where: { $0.isSameMistake(as: culprit) }) else {
        return isOfUser(references) ? [references] : []
      }
      let starts = edges.indices.filter { names.role(of: finder.graph.source(of: edges[$0])).isVisible }
      guard starts.count == references.count else { return [] }
      let last = edges[(index + 1 < starts.count ? starts[index + 1] : edges.count) - 1]
      let source = finder.graph.source(of: last)
      without.formUnion(names.role(of: source) == .context ? Array(finder.graph.edges(of: source)) : [last])
      edges = finder.cycle(in: instance.component, without: without)
      guard !edges.isEmpty else { return [] }
      references = chain.references(edges, names, frames)
    }
    return []
  }

  private static let innerCycleLimit = 3
  /// How many components are looked at for them.
  private static let innerComponentLimit = 1000

  /// Cycles through objects of the program that hang off a leak, each shape once, the shortest first.
  private func innerCycles(
    _ blocks: [Int], outside component: Int, _ finder: inout LeakFinder
  ) -> [[Reference]] {
    var seenComponents: Set<Int32> = [Int32(component)]
    var shapes: [StableHash: [Int]] = [:]
    for node in blocks where names.role(of: node) == .program {
      let other = finder.components.component[node]
      guard seenComponents.count <= Self.innerComponentLimit else { break }
      guard finder.components[Int(other)].count > 1 || finder.holdsItself(node), seenComponents.insert(other).inserted
      else { continue }
      let cycle = finder.cycle(in: Int(other))
      guard !cycle.isEmpty else { continue }
      let shape = finder.shape(of: cycle)
      if shapes[shape].map({ finder.look(of: cycle) < finder.look(of: $0) }) ?? true { shapes[shape] = cycle }
    }
    let chosen = shapes.ordered { ($0.value.count, $0.key) < ($1.value.count, $1.key) }.prefix(Self.innerCycleLimit)
    return chosen.map { chain.references($0.value, names, frames) }
  }
}

extension Reference {
  /// True for the same closure, or else the same field.
  fileprivate func isSameMistake(as other: Reference) -> Bool {
    guard closure == nil, other.closure == nil else { return closure?.symbol == other.closure?.symbol }
    return type == other.type && NodeNames.withoutIndices(field) == NodeNames.withoutIndices(other.field)
  }
}

extension Backtrace {
  /// The functions and lines of the program on the way to an allocation: two calls on one line are one way.
  var callPath: [Frame] {
    frames.filter { !$0.system && !SymbolText.isAllocatingInitializer($0.symbol) }.map { frame in
      var place = frame
      place.offset = 0
      return place
    }
  }
}

extension LeakedObject {
  init(_ node: Snapshot.Node, type: String) {
    self.init(type: type, address: "0x" + String(node.address, radix: 16), size: Int(clamping: node.size))
  }
}

extension TypeCount {
  static func mostBytesFirst(_ a: TypeCount, _ b: TypeCount) -> Bool {
    (b.bytes, b.count, a.type) < (a.bytes, a.count, b.type)
  }
}

extension Suspect {
  /// A cycle that would be a leak if a thread's word were out of use.
  fileprivate init(_ leak: Leak, retainPath: [PathStep]) {
    self.init(
      kind: .thread, signature: leak.signature, count: leak.count, totalBytes: leak.totalBytes, objects: leak.objects,
      retainPath: retainPath, cycle: leak.cycle, allocation: leak.allocation, suspended: leak.suspended,
      advice: Advice.text(forHeldByThread: leak.advice), test: leak.test)
    references = leak.references
  }
}
