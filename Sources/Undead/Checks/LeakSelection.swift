import UndeadReport

/// The part of a snapshot that a report is wanted of.
struct LeakSelection {
  private let snapshot: Snapshot
  private let reported: ReportedLeaks
  /// For each node the nodes that it refers to, or that refer to it, among what leaked.
  private let neighbours: [[Snapshot.Index]]

  /// - Parameter reported: takes what counts as reported from now on.
  init(_ snapshot: Snapshot, reported: ReportedLeaks) {
    self.snapshot = snapshot
    self.reported = reported
    var neighbours = [[Snapshot.Index]](repeating: [], count: snapshot.nodes.count)
    for edge in snapshot.edges where edge.isStrong {
      guard snapshot.nodes[Int(edge.from)].isUnreachable, snapshot.nodes[Int(edge.to)].isUnreachable else { continue }
      neighbours[Int(edge.from)].append(edge.to)
      neighbours[Int(edge.to)].append(edge.from)
    }
    self.neighbours = neighbours
  }

  /// What leaked together with the given nodes, and them; only nodes for which `isAllowed` is true.
  func connected(to seeds: some Sequence<Int>, where isAllowed: (Int) -> Bool) -> Set<Int> {
    var found = Set(seeds)
    var waiting = Array(found)
    while let node = waiting.popLast() {
      for neighbour in neighbours[node].lazy.map(Int.init) where !found.contains(neighbour) && isAllowed(neighbour) {
        found.insert(neighbour)
        waiting.append(neighbour)
      }
    }
    return found
  }

  /// The sets that only frames of threads name and to which one of the nodes belongs, whole.
  func setsOfFrames(with nodes: Set<Int>) -> [Snapshot.SuspectRecord] {
    let records = snapshot.suspects.filter(\.isOfFrame)
    let members = Set(records.map { Int($0.node) })
    guard !members.isDisjoint(with: nodes) else { return [] }
    var neighbours: [Int: [Int]] = [:]
    for edge in snapshot.edges {
      let (from, to) = (Int(edge.from), Int(edge.to))
      guard edge.isStrong, members.contains(from), members.contains(to) else { continue }
      neighbours[from, default: []].append(to)
      neighbours[to, default: []].append(from)
    }
    var found = members.intersection(nodes)
    var waiting = Array(found)
    while let node = waiting.popLast() {
      for neighbour in neighbours[node] ?? [] where found.insert(neighbour).inserted { waiting.append(neighbour) }
    }
    return records.filter { found.contains(Int($0.node)) }
  }

  /// The given nodes, and what they hold of what leaked.
  func held(by holders: some Sequence<Int>) -> Set<Int> {
    var references: [Int: [Int]] = [:]
    for edge in snapshot.edges where edge.isStrong && isLeaked(Int(edge.from)) && isLeaked(Int(edge.to)) {
      references[Int(edge.from), default: []].append(Int(edge.to))
    }
    var found = Set(holders)
    var waiting = Array(found)
    while let node = waiting.popLast() {
      for held in references[node] ?? [] where found.insert(held).inserted { waiting.append(held) }
    }
    return found
  }

  /// True if nothing reaches the node.
  func isLeaked(_ node: Int) -> Bool { snapshot.nodes[node].isUnreachable }

  /// All that leaked together with a node, which counts as reported from now on.
  func claim(_ node: Int) -> Set<Int> {
    let nodes = connected(to: [node]) { _ in true }
    reported.insert(nodes.map { snapshot.nodes[$0].address })
    return nodes
  }

  /// Why a watched object is alive; a leak that it is part of counts as reported from now on.
  func explanation(of node: Int) -> Leak? {
    let leaked = isLeaked(node) ? claim(node) : []
    let report = report(of: leaked, watched: [node], options: ReportOptions())
    return report.leaks.first ?? report.knownLeaks.first
  }

  /// A report of the given leaked nodes, watched objects and suspects only.
  func report(
    of nodes: Set<Int>, watched: Set<Int> = [], suspects: [Snapshot.SuspectRecord] = [], options: ReportOptions
  ) -> LeakReport {
    var part = snapshot
    for node in part.nodes.indices where part.nodes[node].isUnreachable && !nodes.contains(node) {
      part.nodes[node].state = .live
    }
    part.suspects = suspects
    part.watched.removeAll { !watched.contains(Int($0.node)) }
    (part.diagnostics, part.traces, part.runLoops) = ([], [], [])
    return Self.report(of: part, options: options)
  }

  /// Looks names up only if there is something to report: that takes longer than the whole search.
  private static func report(of part: Snapshot, options: ReportOptions) -> LeakReport {
    let unnamed = LeakReport(analyzing: [part])
    guard !unnamed.leaks.isEmpty || !unnamed.suspects.isEmpty else { return unnamed }
    let names = Symbolizer().symbolize(part.shownAddresses, modules: part.modules)
    var report = LeakReport(analyzing: [ReportInput(part, symbols: names.symbols)], options: options)
    report.summary.notes += names.notes
    return report
  }
}

extension Snapshot {
  /// Code addresses of what is listed, as they are looked up.
  fileprivate var shownAddresses: [UInt64] {
    var stacks = Set(watched.map(\.stack))
    var listed = Set<Index>()
    for (index, node) in nodes.enumerated() where node.isUnreachable { listed.insert(Index(index)) }
    for suspect in suspects {
      listed.formUnion([suspect.node, suspect.mechanism])
      listPath(suspect.path, &listed)
    }
    for record in watched {
      listed.insert(record.node)
      listPath(record.path, &listed)
    }
    for node in listed where node != Snapshot.none {
      stacks.formUnion([nodes[Int(node)].stack, nodes[Int(node)].explanation])
    }
    var result = Set<UInt64>()
    for stack in stacks {
      for address in addresses(ofStack: stack) where address > 0 { result.insert(address - 1) }
    }
    for edge in edges where edge.function != 0 && listed.contains(edge.from) { result.insert(edge.function) }
    return Array(result)
  }

  private func listPath(_ path: Index, _ listed: inout Set<Index>) {
    guard path != Snapshot.none else { return }
    let path = paths[Int(path)]
    listed.insert(path.firstNode)
    for step in steps[Int(path.firstStep)..<Int(path.firstStep) + Int(path.stepCount)] where step != Snapshot.none {
      listed.insert(edges[Int(step)].to)
    }
  }
}
