/// Finds the cycle of a component that tells the most: short, through types of the program and named fields.
struct CycleFinder {
  private let graph: LeakGraph
  private let components: Components

  /// State of a node in the search under way; valid if `search` is the number of that search.
  private struct Visit {
    var search: Int32 = -1
    var isDone = false
    var cost: Int32 = 0
    var hash = StableHash()
    var edge: Int32 = -1
  }
  private var visits: [Visit]
  private var search: Int32 = 0
  private var visited = 0

  /// What a cycle costs, then what tells equal ones apart in the same way in every run.
  private struct Score: Comparable {
    var cost: Int32
    var hash: StableHash

    static func < (a: Score, b: Score) -> Bool { (a.cost, a.hash.value) < (b.cost, b.hash.value) }
  }

  init(_ graph: LeakGraph, _ components: Components) {
    self.graph = graph
    self.components = components
    visits = [Visit](repeating: Visit(), count: graph.nodeCount)
  }

  /// The edges of the most telling cycle, rotated to where it is told from; empty if the component has none.
  mutating func cycle(in component: Int, _ names: inout NodeNames) -> [Int] {
    let nodes = components[component]
    if nodes.count == 1, let node = nodes.first.map(Int.init) {
      // Through its own address only: the cheapest and only cycle.
      return graph.edges(of: node).first { graph.follows($0) && graph.end(of: $0) == node }.map { [$0] } ?? []
    }
    var best: [Int] = []
    var bestScore = Score(cost: .max, hash: StableHash())
    // Enough for an exact answer but in huge components that hold only long cycles.
    let edgeCount = nodes.reduce(0) { $0 + graph.edges(of: Int($1)).count }
    let budget = visited + 100_000 + 2 * edgeCount
    for start in startNodes(nodes, &names) {
      guard let found = shortestCycle(through: start, in: component, below: bestScore.cost, &names) else { continue }
      let rotated = Self.rotate(found.edges, in: graph, &names)
      let score = Score(cost: found.cost, hash: Self.hash(of: rotated, from: graph, &names))
      if score < bestScore || best.isEmpty { (best, bestScore) = (rotated, score) }
      if visited > budget { break }
    }
    return best
  }

  /// Where to search from: objects of the program, one of each type first; all nodes if there are none.
  private func startNodes(_ nodes: ArraySlice<Int32>, _ names: inout NodeNames) -> [Int] {
    var starts = nodes.map(Int.init).filter { names.role(of: $0) == .program }
    if starts.isEmpty { starts = nodes.map(Int.init).filter { names.role(of: $0).isVisible } }
    if starts.isEmpty { starts = nodes.map(Int.init) }
    guard starts.count > 2 else { return starts }
    var seen = Set<StableHash>()
    var first: [Int] = []
    var others: [Int] = []
    for node in starts {
      if seen.insert(names.typeHash(of: node)).inserted { first.append(node) } else { others.append(node) }
    }
    return first + others
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
    through start: Int, in component: Int, below limit: Int32, _ names: inout NodeNames
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
          guard components.component[end] == component else { continue }
          let score = self.score(from: node, edge: edge, &names)
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

  private func score(from node: Int, edge: Int, _ names: inout NodeNames) -> Score {
    var cost = visits[node].cost + Self.cost(of: names.role(of: graph.end(of: edge)))
    if !names.hasLabel(edge) { cost += Self.costOfUnnamedField }
    var hash = visits[node].hash
    hash.mix(names.labelHash(of: edge))
    hash.mix(names.typeHash(of: graph.end(of: edge)))
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

  /// Rotates a cycle to start at an object of the program, at the same one in every run; best at one to which the
  /// last reference leads back, so that the chain reads from the owner to the culprit.
  static func rotate(_ edges: [Int], in graph: LeakGraph, _ names: inout NodeNames) -> [Int] {
    guard edges.count > 1 else { return edges }
    var keys: [StepKey] = []
    keys.reserveCapacity(edges.count)
    for (position, edge) in edges.enumerated() {
      let node = graph.source(of: edge)
      let role = names.role(of: node)
      let before = edges[position == 0 ? edges.count - 1 : position - 1]
      let isLedBack = names.isBackReference(before) || names.role(of: graph.source(of: before)) == .context
      // Who has a collection of others is their owner.
      let isOwner = isLedBack || names.role(of: graph.end(of: edge)) == .storage
      let rank = role == .program ? (isOwner ? 0 : 1) : role.isVisible ? 2 : 3
      keys.append(StepKey(rank: rank, type: names.typeHash(of: node), label: names.labelHash(of: edge)))
    }
    let start = leastRotation(keys)
    return Array(edges[start...] + edges[..<start])
  }

  /// What orders the steps of a cycle in the same way in every run.
  struct StepKey: Equatable {
    var rank: Int
    var type: StableHash
    var label: StableHash

    func precedes(_ other: StepKey) -> Bool {
      (rank, type.value, label.value) < (other.rank, other.type.value, other.label.value)
    }
  }

  /// Start of the lexicographically least rotation, in linear time.
  static func leastRotation(_ keys: [StepKey]) -> Int {
    let count = keys.count
    var (a, b, length) = (0, 1, 0)
    while a < count, b < count, length < count {
      let (left, right) = (keys[(a + length) % count], keys[(b + length) % count])
      if left == right {
        length += 1
        continue
      }
      if right.precedes(left) { a += length + 1 } else { b += length + 1 }
      if a == b { b += 1 }
      length = 0
    }
    return min(a, b)
  }

  /// Hash of the types and fields along edges; runs of equal steps count as one.
  static func hash(of edges: [Int], from graph: LeakGraph, _ names: inout NodeNames) -> StableHash {
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
