/// Shortest cycles through nodes of a leak graph.
///
/// A class, since the state of a million nodes is neither copied nor made anew for the next search.
final class CycleSearch {
  /// What a cycle costs, then what distinguishes equal ones, alike in every run.
  struct Score: Comparable {
    var cost: Int32
    var hash: StableHash

    static func < (a: Score, b: Score) -> Bool { (a.cost, a.hash.value) < (b.cost, b.hash.value) }
  }

  /// State of a node in the search under way; valid if `search` is the number of that search.
  private struct Visit {
    var hash = StableHash()
    var search: Int32 = -1
    var cost: Int32 = 0
    var edge: Int32 = -1
    var isDone = false
  }

  private let graph: LeakGraph
  private let components: Components
  private let names: NodeNames
  private let keys: CanonicalKeys
  /// What it costs to pass a node.
  private let costs: [UInt8]
  private let visits: UnsafeMutableBufferPointer<Visit>
  private var search: Int32 = 0
  /// Edges that are not followed.
  var without: Set<Int> = []
  /// References that were followed so far.
  private(set) var visited = 0
  /// Nodes to go on from by what it costs to reach them: no step costs as much as there are places.
  private var queue = [[Int32]](repeating: [], count: 16)
  private var waiting = 0

  init(_ graph: LeakGraph, _ components: Components, _ names: NodeNames, _ keys: CanonicalKeys) {
    self.graph = graph
    self.components = components
    self.names = names
    self.keys = keys
    costs = (0..<graph.nodeCount).map { Self.cost(of: names.role(of: $0)) }
    visits = .allocate(capacity: graph.nodeCount)
    visits.initialize(repeating: Visit())
  }

  deinit { visits.deallocate() }

  private static func cost(of role: NodeRole) -> UInt8 {
    switch role {
    case .program, .storage, .context, .box: 2
    case .toolchain, .task: 4
    case .memory: 6
    }
  }

  private static let lowestCost: Int32 = 2
  private static let costOfUnnamedField: Int32 = 4

  /// Dijkstra's algorithm from a node back to itself, inside its component; nil if every way costs more than `limit`.
  func shortestCycle(
    through start: Int, in component: Int, below limit: Int32
  ) -> (cost: Int32, edges: [Int])? {
    search += 1
    visits[start] = Visit(search: search)
    push(Int32(start), cost: 0)
    var best: (score: Score, edge: Int)?
    var cost: Int32 = 0
    // What costs more leads nowhere.
    while waiting > 0, cost < (best?.score.cost ?? limit), cost <= limit - Self.lowestCost {
      let nodes = pop(cost: cost)
      for node in nodes.lazy.map(Int.init) {
        guard !visits[node].isDone, visits[node].cost == cost else { continue }
        visits[node].isDone = true
        for edge in graph.edges(of: node) where graph.follows(edge) {
          visited += 1
          let end = graph.end(of: edge)
          guard Int(components.component[end]) == component, without.isEmpty || !without.contains(edge) else {
            continue
          }
          let score = self.score(from: node, edge: edge, to: end)
          guard score.cost <= limit else { continue }
          if end != start {
            reach(end, by: edge, score)
          } else if best.map({ score < $0.score }) ?? true {
            best = (score, edge)
          }
        }
      }
      giveBack(nodes, cost: cost)
      cost += 1
    }
    if waiting > 0 { empty() }
    return best.map { ($0.score.cost, path(endingWith: $0.edge, start: start)) }
  }

  private func score(from node: Int, edge: Int, to end: Int) -> Score {
    var cost = visits[node].cost + Int32(costs[end])
    if !names.hasLabel(edge) { cost += Self.costOfUnnamedField }
    var hash = visits[node].hash
    hash.mix(keys.key(ofEdge: edge))
    hash.mix(keys.key(ofNode: end))
    return Score(cost: cost, hash: hash)
  }

  private func reach(_ node: Int, by edge: Int, _ score: Score) {
    let visit = visits[node]
    if visit.search == search {
      guard !visit.isDone, score < Score(cost: visit.cost, hash: visit.hash) else { return }
    }
    visits[node] = Visit(hash: score.hash, search: search, cost: score.cost, edge: Int32(edge))
    push(Int32(node), cost: score.cost)
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

  // MARK: Queue

  private func push(_ node: Int32, cost: Int32) {
    queue[Int(cost & 15)].append(node)
    waiting += 1
  }

  private func pop(cost: Int32) -> [Int32] {
    var nodes: [Int32] = []
    swap(&nodes, &queue[Int(cost & 15)])
    waiting -= nodes.count
    return nodes
  }

  /// Keeps the room of few nodes for the next search.
  private func giveBack(_ nodes: consuming [Int32], cost: Int32) {
    guard nodes.capacity <= 1 << 14 else { return }
    nodes.removeAll(keepingCapacity: true)
    queue[Int(cost & 15)] = nodes
  }

  private func empty() {
    for place in queue.indices where !queue[place].isEmpty {
      if queue[place].capacity > 1 << 14 { queue[place] = [] }
      queue[place].removeAll(keepingCapacity: true)
    }
    waiting = 0
  }
}
