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
  /// In an order of their signatures, so that what several of them hold belongs to the same one in every run.
  private(set) var leaks: [LeakInstance] = []
  /// The leak that each block belongs to, -1 for none. A block that several leaks hold goes to the first of them.
  private(set) var owner: [Int32]
  /// An unreachable block of C code that refers to the object, by object.
  private(set) var foreignHolder: [Int: Int] = [:]
  private let names: NodeNames
  private let keys: CanonicalKeys
  private let looks: NodeLooks
  private var cycles: CycleFinder

  init(_ snapshot: Snapshot, _ names: NodeNames, _ frames: FrameNames, scope: Scope = .sources) {
    graph = LeakGraph(snapshot)
    components = Components(graph)
    self.names = names
    keys = CanonicalKeys(snapshot, graph, names, frames)
    looks = NodeLooks(graph, keys)
    cycles = CycleFinder(graph, components, names, keys, looks)
    owner = [Int32](repeating: -1, count: graph.nodeCount)
    var instances: [LeakInstance] =
      switch scope {
      case .sources: sources(snapshot).map { makeInstance($0) }
      case .programCycles: programComponents().map { makeInstance($0) }.filter { !$0.cycle.isEmpty }
      }
    for index in instances.indices { instances[index].signature = signature(of: instances[index], snapshot, frames) }
    // Cycles of the program first: what they hold is theirs, whatever else holds it.
    leaks = sorted(instances.filter { !$0.cycle.isEmpty }) + sorted(instances.filter { $0.cycle.isEmpty })
    for leak in leaks.indices { claim(from: leak) }
  }

  /// The most telling cycle of a component that is not a leak by itself.
  mutating func cycle(in component: Int) -> [Int] {
    let cycle = cycles.cycle(in: component)
    return isRetainCycle(cycle) ? cycle : []
  }

  /// The same without some of the component's edges.
  mutating func cycle(in component: Int, without edges: Set<Int>) -> [Int] {
    let cycle = cycles.cycle(in: component, without: edges)
    return isRetainCycle(cycle) ? cycle : []
  }

  /// Hash of what a cycle looks like, the same in every run.
  func shape(of cycle: [Int]) -> StableHash { CycleFinder.hash(of: cycle, from: graph, names) }

  /// Hash of all that is known of a cycle, the same in every run.
  func look(of cycle: [Int]) -> StableHash { cycles.look(of: cycle) }

  /// What a block looks like with its neighbours, the same in every run.
  func look(ofBlock node: Int) -> UInt64 { looks[node] }

  /// Hash of a reference and what it leads to, the same in every run.
  func look(ofReference edge: Int) -> StableHash {
    var look = keys.key(ofEdge: edge)
    look.mix(looks[graph.end(of: edge)])
    return look
  }

  /// True for a node that refers to itself.
  func holdsItself(_ node: Int) -> Bool {
    graph.edges(of: node).contains { graph.follows($0) && graph.end(of: $0) == node }
  }

  /// The blocks of a leak: its root first, then what it holds, in the order of a depth-first search.
  ///
  /// - Parameter limit: how many are enough.
  func blocks(of leak: Int, limit: Int = .max) -> [Int] {
    // A set is slow for many blocks, and a flag for each node of the graph is too much for few.
    var few: Set<Int> = []
    var flags = limit == .max ? [Bool](repeating: false, count: graph.nodeCount) : []
    var result: [Int] = []
    var open = [leaks[leak].root]
    while result.count < limit, let node = open.popLast() {
      guard owner[node] == leak, limit == .max ? !flags[node] : few.insert(node).inserted else { continue }
      if limit == .max { flags[node] = true }
      result.append(node)
      for edge in graph.edges(of: node).reversed() where graph.follows(edge) { open.append(graph.end(of: edge)) }
    }
    return result
  }

  // MARK: Leaks

  private func signature(
    of leak: LeakInstance, _ snapshot: Snapshot, _ frames: FrameNames
  ) -> StableHash {
    var hash = StableHash(leak.cycle.isEmpty ? "unreferenced" : "retainCycle")
    hash.mix(leak.cycle.isEmpty ? names.typeHash(of: leak.root) : shape(of: leak.cycle))
    for edge in leak.cycle {
      let function = snapshot.edges[edge].function
      if function != 0 { hash.mix(frames.closureHash(at: function)) }
    }
    let node = snapshot.nodes[leak.root]
    hash.mix(frames.allocationHash(node.stack))
    if node.explanation != Snapshot.none { hash.mix(frames.siteHash(node.explanation)) }
    return hash
  }

  /// Leaks of a signature one after the other, and those that look the same; which lies first says nothing.
  private func sorted(_ leaks: [LeakInstance]) -> [LeakInstance] {
    let keyed = leaks.enumerated().map { (signature: $1.signature.value, look: looks[$1.root], index: $0) }
    return keyed.sorted { ($0.signature, $0.look) < ($1.signature, $1.look) }.map { leaks[$0.index] }
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
    return result
  }

  private mutating func noteForeignHolders(_ nodes: ArraySlice<Int32>) {
    for node in nodes {
      for edge in graph.edges(of: Int(node)) where graph.follows(edge) {
        let end = graph.end(of: edge)
        let hash = names.nameHash(of: Int(node))
        if foreignHolder[end].map({ hash < names.nameHash(of: $0) }) ?? true { foreignHolder[end] = Int(node) }
      }
    }
  }

  private func programComponents() -> [Int] {
    (0..<components.count).filter { component in
      components[component].contains { names.role(of: Int($0)) == .program }
    }
  }

  private mutating func makeInstance(_ component: Int) -> LeakInstance {
    let cycle = cycles.cycle(in: component)
    if isRetainCycle(cycle) {
      return LeakInstance(root: graph.source(of: cycle[0]), cycle: cycle, component: component)
    }
    let nodes = components[component]
    func rank(_ node: Int32) -> Int {
      names.role(of: Int(node)) == .task ? -1 : Int(names.role(of: Int(node)).rawValue)
    }
    let root = nodes.min { (rank($0), keys.key(ofNode: Int($0))) < (rank($1), keys.key(ofNode: Int($1))) }
    return LeakInstance(root: Int(root ?? nodes[nodes.startIndex]), cycle: [], component: component)
  }

  /// Only reference counts make a retain cycle: raw memory that points to itself is none, nor is a task with what its
  /// own frames hold.
  private func isRetainCycle(_ edges: [Int]) -> Bool {
    var (isCounted, hasTask, hasProgram) = (false, false, false)
    for edge in edges {
      let role = names.role(of: graph.source(of: edge))
      isCounted = isCounted || role.isCounted
      hasTask = hasTask || role == .task
      hasProgram = hasProgram || role == .program
    }
    return hasTask ? hasProgram : isCounted
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
