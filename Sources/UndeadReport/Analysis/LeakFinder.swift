/// One leak: a component that nothing else holds.
struct LeakInstance {
  /// The object that the report starts from.
  var root: Int
  /// Edges of the cycle from `root` back to it; empty if nothing refers to `root`.
  var cycle: [Int]
  var component: Int
}

/// Finds the leaks among the blocks that nothing reaches.
struct LeakFinder {
  /// What counts as a leak of its own.
  enum Scope {
    /// Components at which no other block points.
    case sources
    /// Every retain cycle with an object of the program, whatever points at it.
    case programCycles
  }

  let graph: LeakGraph
  let components: Components
  private(set) var leaks: [LeakInstance] = []
  /// The leak that each block belongs to, -1 for none. A block that several leaks hold goes to the first of them.
  private(set) var owner: [Int32]
  /// An unreachable block of C code that refers to the object, by object.
  private(set) var foreignHolder: [Int: Int] = [:]
  private var cycles: CycleFinder

  init(_ snapshot: Snapshot, _ names: inout NodeNames, scope: Scope = .sources) {
    graph = LeakGraph(snapshot)
    components = Components(graph)
    cycles = CycleFinder(graph, components)
    owner = [Int32](repeating: -1, count: graph.nodeCount)
    let instances =
      switch scope {
      case .sources: sources(snapshot).map { makeInstance($0, &names) }
      case .programCycles: programComponents(names).map { makeInstance($0, &names) }.filter { !$0.cycle.isEmpty }
      }
    // Cycles of the program first: what they hold is theirs, whatever else holds it.
    leaks = instances.filter { !$0.cycle.isEmpty } + instances.filter { $0.cycle.isEmpty }
    for leak in leaks.indices { claim(from: leak) }
  }

  /// The most telling cycle of a component that is not a leak by itself.
  mutating func cycle(in component: Int, _ names: inout NodeNames) -> [Int] {
    let cycle = cycles.cycle(in: component, &names)
    return isRetainCycle(cycle, names) ? cycle : []
  }

  /// The blocks of a leak: its root first, then what it holds, in the order of a depth-first search.
  func blocks(of leak: Int) -> [Int] {
    var seen: Set<Int> = []
    var result: [Int] = []
    var open = [leaks[leak].root]
    while let node = open.popLast() {
      guard owner[node] == leak, seen.insert(node).inserted else { continue }
      result.append(node)
      for edge in graph.edges(of: node).reversed() where graph.follows(edge) { open.append(graph.end(of: edge)) }
    }
    return result
  }

  /// Components that hold more than C blocks and that no such component points at.
  private mutating func sources(_ snapshot: Snapshot) -> [Int] {
    var isHeld = [Bool](repeating: false, count: components.count)
    var result: [Int] = []
    // References lead to lower numbers: going down, all holders of a component come before it.
    for component in stride(from: components.count - 1, through: 0, by: -1) {
      let nodes = components[component]
      let isOwn = nodes.contains { snapshot.nodes[Int($0)].state != .support }
      if isOwn, !isHeld[component] { result.append(component) }
      guard isOwn || isHeld[component] else {
        noteForeignHolders(nodes)
        continue
      }
      for node in nodes {
        for edge in graph.edges(of: Int(node)) where graph.follows(edge) {
          let other = Int(components.component[graph.end(of: edge)])
          if other != component { isHeld[other] = true }
        }
      }
    }
    return result.sorted { components[$0].first ?? 0 < components[$1].first ?? 0 }
  }

  private mutating func noteForeignHolders(_ nodes: ArraySlice<Int32>) {
    for node in nodes {
      for edge in graph.edges(of: Int(node)) where graph.follows(edge) {
        let end = graph.end(of: edge)
        if foreignHolder[end] == nil { foreignHolder[end] = Int(node) }
      }
    }
  }

  private func programComponents(_ names: NodeNames) -> [Int] {
    (0..<components.count).filter { component in
      components[component].contains { names.role(of: Int($0)) == .program }
    }
  }

  private mutating func makeInstance(_ component: Int, _ names: inout NodeNames) -> LeakInstance {
    let cycle = cycles.cycle(in: component, &names)
    if isRetainCycle(cycle, names) {
      return LeakInstance(root: graph.source(of: cycle[0]), cycle: cycle, component: component)
    }
    let nodes = components[component]
    func rank(_ node: Int32) -> Int {
      names.role(of: Int(node)) == .task ? -1 : Int(names.role(of: Int(node)).rawValue)
    }
    let root = nodes.min { (rank($0), $0) < (rank($1), $1) } ?? nodes[nodes.startIndex]
    return LeakInstance(root: Int(root), cycle: [], component: component)
  }

  /// Only reference counts make a retain cycle: raw memory that points to itself is none, nor is a task with what its
  /// own frames hold.
  private func isRetainCycle(_ edges: [Int], _ names: NodeNames) -> Bool {
    let roles = edges.map { names.role(of: graph.source(of: $0)) }
    return roles.contains(.task) ? roles.contains(.program) : roles.contains { $0.isCounted }
  }

  private mutating func claim(from leak: Int) {
    var open = components[leaks[leak].component].map(Int.init)
    for node in open { owner[node] = Int32(leak) }
    while let node = open.popLast() {
      for edge in graph.edges(of: node) where graph.follows(edge) {
        let end = graph.end(of: edge)
        guard owner[end] < 0 else { continue }
        owner[end] = Int32(leak)
        open.append(end)
      }
    }
  }
}
