import UndeadReport
import UndeadSystem

/// The dominator tree of a heap with as many nodes as a page can show: what has the same type and hangs off the same nodes
/// by the same field is one, and what is small is added up.
package struct FoldedTree {
  package struct Node: Equatable {
    package var name: String
    /// The field by which it is held; empty where it is held by several.
    package var field = ""
    /// Blocks of the node itself.
    package var count: Int
    /// Bytes of these.
    package var bytes: UInt64
    package var retained: UInt64
    package var parent: Int
    package var isRoot = false
    /// Smaller ones, added up.
    package var isRest = false
  }

  /// Parents come before their children, larger children before smaller ones.
  package private(set) var nodes: [Node] = []

  /// Nodes of a group that are one on the page.
  private struct Group {
    var members: [UInt32]
    var retained: UInt64
  }

  private struct Key: Hashable {
    var kind: UInt32
    var field: String
  }

  private let heap: LoadedHeap
  private let kinds: HeapKinds
  private let limit: Int
  private let smallest: UInt64
  /// What has not been opened yet, the largest last.
  private var waiting: [(node: Int, group: Group)] = []

  /// - Parameters:
  ///   - limit: most nodes.
  package init(_ heap: LoadedHeap, _ kinds: HeapKinds, limit: Int = 3000) {
    self.heap = heap
    self.kinds = kinds
    self.limit = limit
    let total = heap.dominators.retained[heap.dominators.nodes.top]
    smallest = max(1, total / 10_000)
    nodes.append(
      Node(name: "memory", count: 0, bytes: 0, retained: total, parent: -1, isRoot: true))
    addRoots()
    while nodes.count < limit, let next = waiting.popLast() { open(next.node, next.group) }
    sort()
  }

  // MARK: Roots

  private mutating func addRoots() {
    let dominators = heap.dominators
    let top = dominators.nodes.top
    var roots: [String: Group] = [:]
    var shared = Group(members: [], retained: 0)
    for child in dominators.children(of: top) {
      guard dominators.retained[child] > 0 else { continue }
      if dominators.nodes.isBlock(child) {
        shared.members.append(UInt32(child))
        shared.retained += dominators.retained[child]
      } else {
        let name = Self.name(heap.root(ofNode: child))
        roots[name, default: Group(members: [], retained: 0)].members.append(UInt32(child))
        roots[name]?.retained += dominators.retained[child]
      }
    }
    var entries = roots.map { (name: $0.key, group: $0.value, isShared: false) }
    if !shared.members.isEmpty { entries.append(("held by several roots", shared, true)) }
    entries.sort { ($1.group.retained, $0.name) < ($0.group.retained, $1.name) }
    var rest = Rest()
    for entry in entries {
      guard entry.group.retained >= smallest, nodes.count < limit / 4 else {
        rest.add(count: 0, bytes: 0, retained: entry.group.retained)
        continue
      }
      nodes.append(
        Node(
          name: entry.name, count: 0, bytes: 0, retained: entry.group.retained, parent: 0,
          isRoot: true))
      if entry.isShared {
        // These are the children themselves, not what is opened.
        addChildren(of: nodes.count - 1, groups(of: entry.group.members))
      } else {
        wait(nodes.count - 1, entry.group)
      }
    }
    append(rest, below: 0)
  }

  private static func name(_ root: (kind: String, name: String)) -> String {
    switch root.kind {
    case "stack", "register": "stacks of threads"
    case "threadLocal": root.name.isEmpty ? "thread-local variables" : "thread-local \(root.name)"
    case "runLoop": "run loop \(root.name)"
    case "beforeRecording": "memory from before recording"
    case "global": root.name.isEmpty ? "global variables" : "global \(root.name)"
    case "unreachable": "unreachable: leaks"
    default: root.name
    }
  }

  // MARK: Opening

  /// Small parts, added up.
  private struct Rest {
    var groups = 0
    var count = 0
    var bytes: UInt64 = 0
    var retained: UInt64 = 0

    mutating func add(count: Int, bytes: UInt64, retained: UInt64) {
      groups += 1
      self.count += count
      self.bytes &+= bytes
      self.retained &+= retained
    }
  }

  private mutating func open(_ node: Int, _ group: Group) {
    var members = group.members
    var found: [Key: Group] = [:]
    let own = key(of: Int(members[0]))
    var next = 0
    while next < members.count {
      let member = Int(members[next])
      next += 1
      for child in heap.dominators.children(of: member) where heap.dominators.nodes.isBlock(child) {
        let key = key(of: child)
        if key.kind == own.kind, !nodes[node].isRoot {
          // A list, or a tree: its members are one.
          members.append(UInt32(child))
          nodes[node].count += 1
          nodes[node].bytes &+= heap.graph.size(child)
        } else {
          found[key, default: Group(members: [], retained: 0)].members.append(UInt32(child))
          found[key]?.retained &+= heap.dominators.retained[child]
        }
      }
    }
    addChildren(of: node, found)
  }

  private func groups(of members: [UInt32]) -> [Key: Group] {
    var found: [Key: Group] = [:]
    for member in members {
      let key = key(of: Int(member))
      found[key, default: Group(members: [], retained: 0)].members.append(member)
      found[key]?.retained &+= heap.dominators.retained[Int(member)]
    }
    return found
  }

  private mutating func addChildren(of node: Int, _ found: [Key: Group]) {
    let sorted = found.sorted { a, b in
      let (first, second) = (kinds.kinds[Int(a.key.kind)], kinds.kinds[Int(b.key.kind)])
      return (b.value.retained, first.name, first.module ?? "", a.key.field)
        < (a.value.retained, second.name, second.module ?? "", b.key.field)
    }
    var rest = Rest()
    for (key, group) in sorted {
      let bytes = group.members.reduce(UInt64(0)) { $0 &+ heap.graph.size(Int($1)) }
      guard group.retained >= smallest, nodes.count < limit else {
        rest.add(count: group.members.count, bytes: bytes, retained: group.retained)
        continue
      }
      let kind = kinds.kinds[Int(key.kind)]
      nodes.append(
        Node(
          name: kind.name + (kind.module.map { " (\($0))" } ?? ""), field: key.field,
          count: group.members.count,
          bytes: bytes, retained: group.retained, parent: node))
      if group.retained > bytes || group.members.count > 1 { wait(nodes.count - 1, group) }
    }
    append(rest, below: node)
  }

  private mutating func append(_ rest: Rest, below node: Int) {
    guard rest.groups > 0, rest.retained >= smallest else { return }
    nodes.append(
      Node(
        name: "\(rest.groups) smaller", count: rest.count, bytes: rest.bytes,
        retained: rest.retained, parent: node,
        isRest: true))
  }

  private mutating func wait(_ node: Int, _ group: Group) {
    waiting.insert((node, group), at: waiting.partitioningIndex { $0.group.retained >= group.retained })
  }

  /// Type and field of a block; of a root, what no block has.
  private func key(of node: Int) -> Key {
    guard heap.dominators.nodes.isBlock(node) else { return Key(kind: .max, field: "") }
    let above = Int(heap.dominators.immediate[node])
    let isDirect = heap.paths.edge[node] != HeapPaths.none && Int(heap.paths.holder[node]) == above
    return Key(
      kind: kinds.ofBlock[node], field: isDirect ? heap.field(Int(heap.paths.edge[node])) : "")
  }

  /// Puts the nodes in the order in which a reader goes through the tree.
  private mutating func sort() {
    var children = [[Int]](repeating: [], count: nodes.count)
    for (number, node) in nodes.enumerated() where node.parent >= 0 {
      children[node.parent].append(number)
    }
    var order: [Int] = []
    var stack = [0]
    while let next = stack.popLast() {
      order.append(next)
      stack += children[next].reversed()
    }
    var place = [Int](repeating: 0, count: nodes.count)
    for (new, old) in order.enumerated() { place[old] = new }
    nodes = order.map { old in
      var node = nodes[old]
      if node.parent >= 0 { node.parent = place[node.parent] }
      return node
    }
  }
}
