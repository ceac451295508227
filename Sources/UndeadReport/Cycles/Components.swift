/// The strongly connected components of a leak graph: the smallest parts that hold themselves.
struct Components {
  /// Component of each node, -1 for blocks that did not leak. A reference never leads to a higher number.
  private(set) var component: [Int32]
  private(set) var count = 0
  /// Nodes of component c, ascending, are `nodes[first[c]..<first[c + 1]]`.
  private var nodes: [Int32] = []
  private var first: [Int32] = []

  /// Finds the components with Tarjan's algorithm, without recursion, in linear time.
  init(_ graph: LeakGraph) {
    component = [Int32](repeating: -1, count: graph.nodeCount)
    var search = TarjanSearch(nodeCount: graph.nodeCount)
    for root in 0..<graph.nodeCount where graph.contains(root) && !search.isVisited(root) {
      search.run(from: root, graph, &component, &count)
    }
    sortNodes()
  }

  /// The nodes of a component, ascending.
  subscript(component: Int) -> ArraySlice<Int32> {
    nodes[Int(first[component])..<Int(first[component + 1])]
  }

  private mutating func sortNodes() {
    first = [Int32](repeating: 0, count: count + 1)
    for number in component where number >= 0 { first[Int(number) + 1] += 1 }
    for number in 0..<count { first[number + 1] += first[number] }
    nodes = [Int32](repeating: 0, count: Int(first[count]))
    var next = first
    for (node, number) in component.enumerated() where number >= 0 {
      nodes[Int(next[Int(number)])] = Int32(node)
      next[Int(number)] += 1
    }
  }
}

/// The state of Tarjan's algorithm.
private struct TarjanSearch {
  /// Order of discovery from 1, 0 for a node not seen yet.
  private var order: [Int32]
  private var low: [Int32]
  private var nextEdge: [Int32]
  private var counter: Int32 = 0
  private var open: [Int32] = []
  private var calls: [Int32] = []

  init(nodeCount: Int) {
    order = [Int32](repeating: 0, count: nodeCount)
    low = order
    nextEdge = order
  }

  func isVisited(_ node: Int) -> Bool { order[node] != 0 }

  private mutating func enter(_ node: Int, _ graph: LeakGraph) {
    counter += 1
    order[node] = counter
    low[node] = counter
    nextEdge[node] = Int32(graph.edges(of: node).lowerBound)
    open.append(Int32(node))
    calls.append(Int32(node))
  }

  mutating func run(from root: Int, _ graph: LeakGraph, _ component: inout [Int32], _ count: inout Int) {
    enter(root, graph)
    while let top = calls.last {
      let node = Int(top)
      if let child = unvisitedChild(of: node, graph, component) {
        enter(child, graph)
        continue
      }
      calls.removeLast()
      if let parent = calls.last { low[Int(parent)] = min(low[Int(parent)], low[node]) }
      guard low[node] == order[node] else { continue }
      while let member = open.popLast() {
        component[Int(member)] = Int32(count)
        if member == top { break }
      }
      count += 1
    }
  }

  /// Takes the references of a node in turn, up to one that leads to a node not seen yet.
  private mutating func unvisitedChild(of node: Int, _ graph: LeakGraph, _ component: [Int32]) -> Int? {
    let end = graph.edges(of: node).upperBound
    while Int(nextEdge[node]) < end {
      let edge = Int(nextEdge[node])
      nextEdge[node] += 1
      guard graph.follows(edge) else { continue }
      let child = graph.end(of: edge)
      if order[child] == 0 { return child }
      if component[child] < 0 { low[node] = min(low[node], order[child]) }
    }
    return nil
  }
}
