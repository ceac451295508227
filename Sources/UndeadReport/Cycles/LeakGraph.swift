/// The blocks of a snapshot that nothing reaches, with the references that keep blocks alive.
struct LeakGraph {
  let nodeCount: Int
  /// References of node n are `[firstEdge[n], firstEdge[n + 1])` of the snapshot's edges.
  private let firstEdge: [Int32]
  private let edges: [Snapshot.Edge]
  private let target: [Int32]
  /// Edges that lead from a leaked block to a leaked block and keep it alive.
  private let isFollowed: [Bool]
  private let isMember: [Bool]

  init(_ snapshot: Snapshot) {
    nodeCount = snapshot.nodes.count
    let member = snapshot.nodes.map { $0.state == .leaked || $0.state == .raw || $0.state == .support }
    var first = [Int32](repeating: 0, count: snapshot.nodes.count + 1)
    for edge in snapshot.edges { first[Int(edge.from) + 1] += 1 }
    for node in 0..<nodeCount { first[node + 1] += first[node] }
    firstEdge = first
    edges = snapshot.edges
    target = snapshot.edges.map { Int32(bitPattern: $0.to) }
    // An implied reference (flag 2) is no pointer: it explains suspects, but keeps nothing alive.
    isFollowed = snapshot.edges.map { $0.flags & 7 == 0 && member[Int($0.from)] && member[Int($0.to)] }
    isMember = member
  }

  /// True for a block that nothing reaches.
  func contains(_ node: Int) -> Bool { isMember[node] }

  /// All references of a node, followed or not.
  func edges(of node: Int) -> Range<Int> { Int(firstEdge[node])..<Int(firstEdge[node + 1]) }

  /// True if the reference keeps a leaked block alive.
  func follows(_ edge: Int) -> Bool { isFollowed[edge] }

  /// The node that holds a reference.
  func source(of edge: Int) -> Int { Int(edges[edge].from) }

  /// Where a reference leads.
  func end(of edge: Int) -> Int { Int(target[edge]) }
}
