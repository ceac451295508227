/// Turns the suspects of a snapshot into groups with retain paths and advice.
struct SuspectBuilder {
  private let snapshot: Snapshot
  private let chain: ReferenceChain
  private var names: NodeNames
  private var frames: FrameNames
  /// First edge of each node in the snapshot's order; only filled if there are suspects.
  private var firstEdge: [Int] = []

  init(_ snapshot: Snapshot, names: NodeNames, frames: FrameNames) {
    self.snapshot = snapshot
    self.names = names
    self.frames = frames
    chain = ReferenceChain(snapshot)
  }

  mutating func build() -> [Suspect] {
    guard !snapshot.suspects.isEmpty else { return [] }
    firstEdge = [Int](repeating: 0, count: snapshot.nodes.count + 1)
    for edge in snapshot.edges { firstEdge[Int(edge.from) + 1] += 1 }
    for node in snapshot.nodes.indices { firstEdge[node + 1] += firstEdge[node] }
    var groups: [String: Suspect] = [:]
    var order: [String] = []
    for record in snapshot.suspects {
      let suspect = suspect(record)
      guard var group = groups[suspect.signature] else {
        groups[suspect.signature] = suspect
        order.append(suspect.signature)
        continue
      }
      group.count += 1
      group.totalBytes.addSaturating(UInt64(suspect.totalBytes))
      if group.objects.count < LeakGroup.sampleLimit { group.objects += suspect.objects }
      groups[suspect.signature] = group
    }
    return order.compactMap { groups[$0] }
  }

  private mutating func suspect(_ record: Snapshot.SuspectRecord) -> Suspect {
    let node = Int(record.node)
    let block = snapshot.nodes[node]
    let mechanism = record.mechanism == Snapshot.none ? nil : Int(record.mechanism)
    let back = mechanism.map { way(from: node, to: $0) } ?? []
    let holdsBack = chain.references(back, names, &frames)
    let kind = Self.kind(record.kind)
    let explanation = mechanism.map { snapshot.nodes[$0].explanation } ?? Snapshot.none
    var hash = StableHash(kind.rawValue)
    hash.mix(names.typeHash(of: node))
    for edge in back { hash.mix(names.labelHash(of: edge)) }
    hash.mix(frames.siteHash(block.stack))
    return Suspect(
      kind: kind, signature: hash.hexadecimal, totalBytes: Int(clamping: block.size),
      objects: [LeakedObject(block, type: names.type(of: node))],
      retainPath: retainPath(record, to: node, mechanism: mechanism), holdsBack: holdsBack.isEmpty ? nil : holdsBack,
      allocation: frames.backtrace(block.stack),
      suspended: explanation == Snapshot.none ? nil : frames.backtrace(explanation),
      advice: Advice.text(for: kind, holdsBack: holdsBack))
  }

  private static func kind(_ number: UInt32) -> Suspect.Kind {
    switch number {
    case 1: .timer
    case 2: .dispatchSource
    case 3: .observer
    case 4: .task
    default: Suspect.Kind(rawValue: "heldByUnknown")
    }
  }

  private mutating func retainPath(_ record: Snapshot.SuspectRecord, to node: Int, mechanism: Int?) -> [PathStep] {
    var root: PathStep.Root?
    var edges: [Int] = []
    if record.path != Snapshot.none {
      let path = snapshot.paths[Int(record.path)]
      root = PathStep.Root(kind: Self.rootKind(path.rootKind), name: rootName(path))
      edges = snapshot.steps[Int(path.firstStep)..<(Int(path.firstStep) + Int(path.stepCount))].map(Int.init)
    }
    let end = edges.last.map { Int(snapshot.edges[$0].to) } ?? (root == nil ? mechanism : firstNode(record))
    // A path may end at what fires or waits; the rest of the way is in the references.
    if let end, end != node { edges += way(from: end, to: node) }
    // C blocks between the root and the first object that has a name tell nothing.
    let start = edges.firstIndex { names.role(of: Int(snapshot.edges[$0].from)).isVisible } ?? edges.startIndex
    edges.removeFirst(start)
    var references = chain.references(edges, names, &frames)
    // Nor do the collections of the run loop and of libdispatch.
    while references.count > 1, references[0].isNameless { references.removeFirst() }
    var steps = references.map { PathStep($0) }
    steps.append(PathStep(type: names.type(of: node), field: ""))
    steps[0].root = root
    return steps
  }

  private func firstNode(_ record: Snapshot.SuspectRecord) -> Int? {
    let index = snapshot.paths[Int(record.path)].firstNode
    return index == Snapshot.none ? nil : Int(index)
  }

  private static func rootKind(_ number: UInt32) -> String {
    switch number {
    case 1: "global"
    case 2: "stack"
    case 3: "threadLocal"
    case 4: "register"
    case 5: "runLoop"
    default: "unknown"
    }
  }

  private func rootName(_ path: Snapshot.Path) -> String {
    let name = snapshot.strings[path.rootName]
    if !name.isEmpty { return Demangler.readable(name) }
    return path.thread == 0 ? "" : "thread \(path.thread)"
  }

  /// Shortest way along strong and implied references; empty if there is none.
  private func way(from start: Int, to end: Int) -> [Int] {
    guard start != end else { return [] }
    var reached: [Int: Int] = [start: -1]
    var queue = [start]
    var next = 0
    while next < queue.count {
      let node = queue[next]
      next += 1
      for edge in firstEdge[node]..<firstEdge[node + 1] where snapshot.edges[edge].isStrong {
        let target = Int(snapshot.edges[edge].to)
        guard reached[target] == nil else { continue }
        reached[target] = edge
        if target == end { return trace(reached, to: end) }
        queue.append(target)
      }
    }
    return []
  }

  private func trace(_ reached: [Int: Int], to end: Int) -> [Int] {
    var edges: [Int] = []
    var node = end
    while let edge = reached[node], edge >= 0 {
      edges.append(edge)
      node = Int(snapshot.edges[edge].from)
    }
    return edges.reversed()
  }
}
