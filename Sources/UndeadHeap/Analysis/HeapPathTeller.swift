import UndeadReport

/// Tells retain paths of blocks as reports do: what the compiler makes between two objects is folded into the field.
package struct HeapPathTeller {
  private let heap: LoadedHeap
  /// The blocks and references of the paths, as a snapshot would have them.
  private var snapshot: Snapshot
  private var roots: [(node: Int, first: Int, worth: PathWorth, isSleep: Bool)] = []
  private var ends: [Int] = []

  package init(_ heap: LoadedHeap) {
    self.heap = heap
    snapshot = heap.file.snapshot
    snapshot.removeFindings()
  }

  /// Adds the best path to a block; the paths are named in the order in which they were added.
  ///
  /// - Parameter resumption: true for a path to what may resume a task.
  package mutating func add(_ block: Int, resumption: Bool = false) {
    let paths = resumption ? heap.resumptions : heap.paths
    // Where the middle is left out, a reference leads from one end of the gap to the other.
    let path = paths.toldPath(to: block)
    let recorded = resumption ? heap.recordsOfSleep(path.edges) : nil
    let edges = path.edges.dropFirst(recorded ?? 0)
    let first = edges.first.map { heap.graph.source(of: $0) } ?? block
    var from = addNode(first)
    let firstNode = from
    let firstStep = UInt32(snapshot.steps.count)
    for (number, edge) in zip(edges.indices, edges) {
      let to = addNode(
        number + 1 < edges.endIndex ? heap.graph.source(of: edges[number + 1]) : Int(heap.graph.targets[edge]))
      let place = heap.graph.place(edge)
      snapshot.edges.append(
        .init(
          from: from, to: to, offset: place.offset, label: place.label, declaredType: place.declaredType,
          function: place.function))
      snapshot.steps.append(UInt32(snapshot.edges.count - 1))
      from = to
    }
    snapshot.paths.append(
      .init(
        rootKind: 0, firstNode: firstNode, firstStep: firstStep, stepCount: UInt32(edges.count), endNode: from))
    ends.append(block)
    roots.append((path.root, first, paths.worth(of: block), recorded != nil))
  }

  private mutating func addNode(_ block: Int) -> Snapshot.Index {
    let isRaw = heap.group(block) == Int(heap.types.raw)
    snapshot.nodes.append(
      .init(
        address: heap.graph.addresses[block], size: heap.graph.size(block), type: heap.graph.shape(block).type,
        stack: Snapshot.none, state: isRaw ? .raw : .live))
    return UInt32(snapshot.nodes.count - 1)
  }

  /// Functions of the closures on the paths.
  package var functions: [UInt64] { snapshot.edges.map(\.function).filter { $0 != 0 } }

  /// The paths that were added.
  package func tell(_ symbols: SymbolTable) -> [[PathStep]] {
    var paths = snapshot.retainPaths(symbols: symbols)
    for number in paths.indices where !paths[number].isEmpty {
      paths[number][0].root = root(number)
      if heap.ownership.outlives(ends[number]) {
        paths[number][paths[number].count - 1].type = heap.typeName(ends[number])
      }
    }
    return paths
  }

  private func root(_ number: Int) -> PathStep.Root? {
    let (node, first, worth, isSleep) = roots[number]
    if isSleep { return PathStep.Root(kind: "task", name: "timer of Task.sleep", evidence: worth.evidence) }
    guard node != heap.dominators.nodes.unreachable else { return nil }
    let (kind, name) = heap.root(ofNode: node, holding: first)
    return PathStep.Root(kind: kind, name: name, evidence: worth.evidence)
  }
}

extension LoadedHeap {
  /// How many references at the beginning of a path are those of the runtime for a sleep: from libdispatch's timer to the task that
  /// the runtime makes for it, and on to the task that sleeps. Nil for other paths.
  fileprivate func recordsOfSleep(_ edges: [Int]) -> Int? {
    func isTask(_ block: Int) -> Bool { types.groups[group(block)].kind == .task }
    guard let first = edges.firstIndex(where: { isTask(Int(graph.targets[$0])) }) else { return nil }
    let handler = edges[...first].firstIndex {
      typeName(graph.source(of: $0)) == "dispatch source refs" && field($0) == "event handler"
    }
    // A sleep with a tolerance has its task where others have a handler.
    guard let start = handler.map({ $0 + 1 }) ?? (isOfSleep(Int(graph.targets[edges[first]])) ? 0 : nil),
      // A closure of the program would lie between.
      edges[start..<(first + 1)].allSatisfy({ types.groups[group(graph.source(of: $0))].kind == .other })
    else { return nil }
    let next = first + 2
    guard next < edges.count, typeName(graph.source(of: edges[next])) == TaskProgress.contextOfSleep else {
      return first + 1
    }
    return edges[next...].firstIndex { isTask(Int(graph.targets[$0])) }.map { $0 + 1 } ?? first + 1
  }

  /// Whether the runtime made the task for a sleep.
  private func isOfSleep(_ task: Int) -> Bool {
    graph.edges(of: task).contains { typeName(Int(graph.targets[$0])) == TaskProgress.contextOfSleep }
  }
}
