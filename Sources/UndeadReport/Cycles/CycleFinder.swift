/// Finds the cycle of a component that shows the most: short, through types of the program and named fields.
///
/// Of several that tell as much it is the same one in every run, wherever the blocks lie and in whatever order they come.
struct CycleFinder {
  private let graph: LeakGraph
  private let components: Components
  private let names: NodeNames
  private let keys: CanonicalKeys

  /// Made when the first component needs a search.
  private var search: CycleSearch?
  private let looks: NodeLooks

  private typealias Candidate = (score: CycleSearch.Score, edges: [Int])

  init(_ graph: LeakGraph, _ components: Components, _ names: NodeNames, _ keys: CanonicalKeys, _ looks: NodeLooks) {
    self.graph = graph
    self.components = components
    self.names = names
    self.keys = keys
    self.looks = looks
  }

  /// The edges of the most telling cycle, rotated to where the report starts it; empty if the component has none.
  mutating func cycle(in component: Int) -> [Int] {
    let nodes = components[component]
    if nodes.count == 1, let node = nodes.first.map(Int.init) {
      let edges = graph.edges(of: node).filter { graph.follows($0) && graph.end(of: $0) == node }
      return edges.min { fullKey($0).value < fullKey($1).value }.map { [$0] } ?? []
    }
    if let ring = ring(of: nodes, component) { return rotate(ring) }
    return bestCycle(of: nodes, in: component)
  }

  /// The same of a small component without some of its edges.
  mutating func cycle(in component: Int, without edges: Set<Int>) -> [Int] {
    let nodes = components[component]
    guard (2...Self.smallComponent).contains(nodes.count), ring(of: nodes, component) == nil else { return [] }
    let search = search ?? CycleSearch(graph, components, names, keys)
    self.search = search
    search.without = edges
    defer { search.without = [] }
    var best: Candidate?
    for start in startNodes(nodes) { take(start, component, below: best?.score.cost ?? .max, &best, search) }
    return best?.edges ?? []
  }

  private static let smallComponent = 64

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
    let search = search ?? CycleSearch(graph, components, names, keys)
    self.search = search
    let starts = startNodes(nodes)
    let edgeCount = nodes.reduce(0) { $0 + graph.edges(of: Int($1)).count }
    var best: Candidate?
    if starts.count * edgeCount <= Self.smallSearch {
      for start in starts { take(start, component, below: best?.score.cost ?? .max, &best, search) }
      return best?.edges ?? []
    }
    let classes = looks.classes(of: starts)
    for depth in Self.depths {
      let budget = search.visited + Self.smallSearch + edgeCount / 2
      tryClasses(classes, component, upTo: depth, budget, &best, search)
      if best != nil { break }
    }
    return best?.edges ?? []
  }

  /// What cycles may cost at first, where there are too many starts for all: a short one is found by small searches from
  /// thousands of them before a search from one has gone through everything.
  private static let depths: [Int32] = [4, 8, 16, .max]

  private func tryClasses(
    _ classes: NodeLooks.Classes, _ component: Int, upTo depth: Int32, _ budget: Int, _ best: inout Candidate?,
    _ search: CycleSearch
  ) {
    for look in classes.ranges {
      // A class counts as a whole or not at all, or else the order of its nodes would decide.
      let before = best
      let limit = best?.score.cost ?? depth
      for position in look {
        take(Int(classes.nodes[Int(position)]), component, below: limit, &best, search)
        if search.visited > budget, look.count > 1 {
          best = before ?? best
          return
        }
      }
      if search.visited > budget { return }
    }
  }

  private func take(
    _ start: Int, _ component: Int, below limit: Int32, _ best: inout Candidate?, _ search: CycleSearch
  ) {
    guard let found = search.shortestCycle(through: start, in: component, below: limit) else { return }
    let rotated = rotate(found.edges)
    let score = CycleSearch.Score(cost: found.cost, hash: look(of: rotated))
    if best.map({ score < $0.score }) ?? true { best = (score, rotated) }
  }

  /// Where to search from: objects of the user's types, which are theirs to change; else of dependencies; what is visible
  /// if there are none of these; else all nodes.
  private func startNodes(_ nodes: ArraySlice<Int32>) -> [Int] {
    var starts = nodes.map(Int.init).filter { names.isOfUser($0) }
    if starts.isEmpty { starts = nodes.map(Int.init).filter { names.role(of: $0) == .program } }
    if starts.isEmpty { starts = nodes.map(Int.init).filter { names.role(of: $0).isVisible } }
    return starts.isEmpty ? nodes.map(Int.init) : starts
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
    let best = edges.map { names.backRank($0) }.max() ?? 0
    for (position, edge) in edges.enumerated() {
      let node = graph.source(of: edge)
      let role = names.role(of: node)
      let before = edges[position == 0 ? edges.count - 1 : position - 1]
      let isLedBack = best > 0 && names.backRank(before) == best || names.role(of: graph.source(of: before)) == .context
      // Who has a collection of others is their owner.
      let isOwner = isLedBack || names.role(of: graph.end(of: edge)) == .storage
      let rank = role == .program ? (isOwner ? 0 : 1) + (names.isOfUser(node) ? 0 : 2) : role.isVisible ? 4 : 5
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
