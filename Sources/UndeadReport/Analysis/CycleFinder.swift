/// Finds the cycle of a component that tells the most: short, through types of the program and named fields.
///
/// Of several that tell as much it is the same one in every run, wherever the blocks lie and in whatever order they come.
struct CycleFinder {
  private let graph: LeakGraph
  private let components: Components
  private let names: NodeNames
  private let keys: CanonicalKeys

  /// State of a node in the search under way; valid if `search` is the number of that search.
  private struct Visit {
    var search: Int32 = -1
    var isDone = false
    var cost: Int32 = 0
    var hash = StableHash()
    var edge: Int32 = -1
  }
  /// By node; made when the first component needs a search.
  private var visits: [Visit] = []
  private let looks: NodeLooks
  private var search: Int32 = 0
  private var visited = 0

  /// What a cycle costs, then what tells equal ones apart in the same way in every run.
  private struct Score: Comparable {
    var cost: Int32
    var hash: StableHash

    static func < (a: Score, b: Score) -> Bool { (a.cost, a.hash.value) < (b.cost, b.hash.value) }
  }

  private typealias Candidate = (score: Score, edges: [Int])

  init(_ graph: LeakGraph, _ components: Components, _ names: NodeNames, _ keys: CanonicalKeys, _ looks: NodeLooks) {
    self.graph = graph
    self.components = components
    self.names = names
    self.keys = keys
    self.looks = looks
  }

  /// The edges of the most telling cycle, rotated to where it is told from; empty if the component has none.
  mutating func cycle(in component: Int) -> [Int] {
    let nodes = components[component]
    if nodes.count == 1, let node = nodes.first.map(Int.init) {
      let edges = graph.edges(of: node).filter { graph.follows($0) && graph.end(of: $0) == node }
      return edges.min { fullKey($0).value < fullKey($1).value }.map { [$0] } ?? []
    }
    if let ring = ring(of: nodes, component) { return rotate(ring) }
    return bestCycle(of: nodes, in: component)
  }

  /// The edges of a component that is one ring and no more; nil for others.
  private func ring(of nodes: ArraySlice<Int32>, _ component: Int) -> [Int]? {
    guard let first = nodes.first else { return nil }
    var edges: [Int] = []
    edges.reserveCapacity(nodes.count)
    var node = Int(first)
    for _ in nodes {
      var way: Int?
      for edge in graph.edges(of: node) where graph.follows(edge) && isInside(edge, component) {
        guard way == nil else { return nil }
        way = edge
      }
      guard let way else { return nil }
      edges.append(way)
      node = graph.end(of: way)
    }
    return edges
  }

  private func isInside(_ edge: Int, _ component: Int) -> Bool {
    components.component[graph.end(of: edge)] == component
  }

  /// Hash of all that is known of a cycle, the same in every run.
  func look(of cycle: [Int]) -> StableHash {
    var hash = StableHash()
    for edge in cycle { hash.mix(fullKey(edge)) }
    return hash
  }

  private func fullKey(_ edge: Int) -> StableHash {
    var key = keys.key(ofNode: graph.source(of: edge))
    key.mix(keys.key(ofEdge: edge))
    return key
  }

  // MARK: Many cycles

  /// Searches up to which every start is tried.
  private static let smallSearch = 100_000

  private mutating func bestCycle(of nodes: ArraySlice<Int32>, in component: Int) -> [Int] {
    if visits.isEmpty { visits = [Visit](repeating: Visit(), count: graph.nodeCount) }
    let starts = startNodes(nodes)
    let edgeCount = nodes.reduce(0) { $0 + graph.edges(of: Int($1)).count }
    var best: Candidate?
    if starts.count * edgeCount <= Self.smallSearch {
      for start in starts { take(start, component, below: best?.score.cost ?? .max, &best) }
      return best?.edges ?? []
    }
    let budget = visited + Self.smallSearch + 4 * edgeCount
    for look in looks.classes(of: starts) {
      // A class counts as a whole or not at all, or else the order of its nodes would decide.
      let before = best
      let limit = best?.score.cost ?? .max
      for start in look {
        take(start, component, below: limit, &best)
        if visited > budget, look.count > 1 { return (before ?? best)?.edges ?? [] }
      }
      if visited > budget, best != nil { break }
    }
    return best?.edges ?? []
  }

  private mutating func take(_ start: Int, _ component: Int, below limit: Int32, _ best: inout Candidate?) {
    guard let found = shortestCycle(through: start, in: component, below: limit) else { return }
    let rotated = rotate(found.edges)
    let score = Score(cost: found.cost, hash: look(of: rotated))
    if best.map({ score < $0.score }) ?? true { best = (score, rotated) }
  }

  /// Where to search from: objects of the program; what is visible if there are none; else all nodes.
  private func startNodes(_ nodes: ArraySlice<Int32>) -> [Int] {
    var starts = nodes.map(Int.init).filter { names.role(of: $0) == .program }
    if starts.isEmpty { starts = nodes.map(Int.init).filter { names.role(of: $0).isVisible } }
    return starts.isEmpty ? nodes.map(Int.init) : starts
  }

  private static func cost(of role: NodeRole) -> Int32 {
    switch role {
    case .program, .storage, .context, .box: 2
    case .toolchain, .task: 4
    case .memory: 6
    }
  }

  private static let costOfUnnamedField: Int32 = 4

  /// Dijkstra's algorithm from a node back to itself, inside its component; nil if every way costs more than `limit`.
  private mutating func shortestCycle(
    through start: Int, in component: Int, below limit: Int32
  ) -> (cost: Int32, edges: [Int])? {
    search += 1
    var queue: [[Int32]] = [[Int32(start)]]
    visits[start] = Visit(search: search, cost: 0)
    var best: (score: Score, edge: Int)?
    var cost = 0
    while cost < queue.count, Int32(cost) < (best?.score.cost ?? limit), Int32(cost) <= limit {
      for entry in queue[cost] {
        let node = Int(entry)
        guard !visits[node].isDone, Int(visits[node].cost) == cost else { continue }
        visits[node].isDone = true
        for edge in graph.edges(of: node) where graph.follows(edge) {
          visited += 1
          let end = graph.end(of: edge)
          guard isInside(edge, component) else { continue }
          let score = self.score(from: node, edge: edge)
          guard score.cost <= limit else { continue }
          if end == start {
            if best.map({ score < $0.score }) ?? true { best = (score, edge) }
          } else {
            reach(end, by: edge, score, &queue)
          }
        }
      }
      queue[cost] = []
      cost += 1
    }
    return best.map { ($0.score.cost, path(endingWith: $0.edge, start: start)) }
  }

  private func score(from node: Int, edge: Int) -> Score {
    let end = graph.end(of: edge)
    var cost = visits[node].cost + Self.cost(of: names.role(of: end))
    if !names.hasLabel(edge) { cost += Self.costOfUnnamedField }
    var hash = visits[node].hash
    hash.mix(keys.key(ofEdge: edge))
    hash.mix(keys.key(ofNode: end))
    return Score(cost: cost, hash: hash)
  }

  private mutating func reach(_ node: Int, by edge: Int, _ score: Score, _ queue: inout [[Int32]]) {
    let visit = visits[node]
    if visit.search == search {
      guard !visit.isDone, score < Score(cost: visit.cost, hash: visit.hash) else { return }
    }
    visits[node] = Visit(search: search, cost: score.cost, hash: score.hash, edge: Int32(edge))
    while queue.count <= Int(score.cost) { queue.append([]) }
    queue[Int(score.cost)].append(Int32(node))
  }

  private func path(endingWith last: Int, start: Int) -> [Int] {
    var edges = [last]
    var node = graph.source(of: last)
    while node != start {
      edges.append(Int(visits[node].edge))
      node = graph.source(of: Int(visits[node].edge))
    }
    return edges.reversed()
  }

  // MARK: Order

  /// What orders the steps of a cycle in the same way in every run.
  private struct StepKey: Equatable {
    var rank: Int
    var type: StableHash
    var label: StableHash

    static func precedes(_ a: StepKey, _ b: StepKey) -> Bool {
      (a.rank, a.type.value, a.label.value) < (b.rank, b.type.value, b.label.value)
    }
  }

  /// Rotates a cycle to start at an object of the program, at the same one in every run; best at one to which the
  /// last reference leads back, so that the chain reads from the owner to the culprit.
  private func rotate(_ edges: [Int]) -> [Int] {
    guard edges.count > 1 else { return edges }
    var steps: [StepKey] = []
    var details: [StableHash] = []
    steps.reserveCapacity(edges.count)
    details.reserveCapacity(edges.count)
    for (position, edge) in edges.enumerated() {
      let node = graph.source(of: edge)
      let role = names.role(of: node)
      let before = edges[position == 0 ? edges.count - 1 : position - 1]
      let isLedBack = names.isBackReference(before) || names.role(of: graph.source(of: before)) == .context
      // Who has a collection of others is their owner.
      let isOwner = isLedBack || names.role(of: graph.end(of: edge)) == .storage
      let rank = role == .program ? (isOwner ? 0 : 1) : role.isVisible ? 2 : 3
      steps.append(StepKey(rank: rank, type: names.typeHash(of: node), label: names.labelHash(of: edge)))
      details.append(fullKey(edge))
    }
    let start = CyclicOrder.leastRotation(steps, by: StepKey.precedes, then: details)
    if start == 0 { return edges }
    return Array(edges[start...] + edges[..<start])
  }

  /// Hash of the types and fields along edges; runs of equal steps count as one.
  static func hash(of edges: [Int], from graph: LeakGraph, _ names: NodeNames) -> StableHash {
    var hash = StableHash()
    var last: StableHash?
    for edge in edges {
      var step = names.typeHash(of: graph.source(of: edge))
      step.mix(names.labelHash(of: edge))
      if step != last { hash.mix(step) }
      last = step
    }
    return hash
  }
}
