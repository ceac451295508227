import UndeadHeap
import UndeadReport
import UndeadSystem

/// Draws who keeps the memory of a heap, or what is around a type or an object, as a graph for Graphviz.
package enum HeapDot {
  /// What is drawn.
  package enum Subject: Sendable {
    /// Who keeps the memory: the dominator tree, folded.
    case retained
    /// Types that hold a type, and those that it holds.
    case type(String)
    /// The shortest way to the object at an address, who else refers to it, and what it refers to.
    case address(UInt64)
  }

  /// Boxes of a graph; more cannot be read.
  private static let limit = 60

  /// The graph; the same text for the same file.
  ///
  /// - Throws: ``HeapQuestionError`` if there is no such type or object.
  package static func render(_ heap: LoadedHeap, _ subject: Subject = .retained) throws(HeapQuestionError) -> String {
    switch subject {
    case .retained: return retained(heap)
    case .type(let pattern):
      let selection = try HeapSelection(heap, .type(pattern))
      return TypeGraph(heap, around: Set(selection.groups.map { UInt32($0) })).dot(selection.name, limit: limit)
    case .address(let address):
      let selection = try HeapSelection(heap, .address(address))
      return object(heap, selection.blocks[0])
    }
  }

  private static func retained(_ heap: LoadedHeap) -> String {
    let tree = FoldedTree(heap, HeapKinds(heap), limit: limit)
    var dot = Dot("retained")
    for (number, node) in tree.nodes.enumerated() {
      let times = node.count > 1 ? "\(Quantity.grouped(node.count)) \u{D7} " : ""
      let style: [(String, String)] =
        node.isRest ? [("style", "dashed")] : node.isRoot ? [("shape", "ellipse")] : []
      dot.node("\(number)", [times + node.name, "retains \(bytes(node.retained))"], style)
      if node.parent >= 0 { dot.edge("\(node.parent)", "\(number)", Names.field(node.field)) }
    }
    return dot.text
  }

  private static func bytes(_ value: UInt64) -> String { Quantity.bytes(Int(clamping: value)) }

  // MARK: One object

  private static func object(_ heap: LoadedHeap, _ block: Int) -> String {
    var dot = Dot("0x" + String(heap.graph.addresses[block], radix: 16))
    let way = HeapWay(heap, to: block)
    dot.node("root", [way.root.kind, way.root.name].filter { !$0.isEmpty }, [("shape", "ellipse")])
    var last = "root"
    var label = ""
    let steps = way.steps.count > limit / 2 ? Array(way.steps.suffix(limit / 2)) : way.steps
    if steps.count < way.steps.count {
      dot.node("more", ["\(Quantity.grouped(way.steps.count - steps.count)) more references"], [("style", "dashed")])
      dot.edge(last, "more")
      last = "more"
    }
    for (number, step) in steps.enumerated() {
      dot.node("way/\(number)", [step.type])
      dot.edge(last, "way/\(number)", label)
      (last, label) = ("way/\(number)", Names.field(step.field))
    }
    let facts = "\(bytes(heap.graph.size(block))), retains \(bytes(heap.dominators.retained[block]))"
    dot.node("object", [way.end, "0x" + String(heap.graph.addresses[block], radix: 16), facts], [("penwidth", "2")])
    dot.edge(last, "object", label)
    neighbours(heap, block, &dot)
    return dot.text
  }

  /// Who else refers to an object, and what it refers to, by type and field.
  private static func neighbours(_ heap: LoadedHeap, _ block: Int, _ dot: inout Dot) {
    struct Key: Hashable {
      var type: String
      var field: String
    }
    var (holders, held): ([Key: Int], [Key: Int]) = ([:], [:])
    for edge in heap.edges(to: block) where edge != Int(heap.paths.edge[block]) {
      holders[Key(type: heap.typeName(heap.graph.source(of: edge)), field: heap.field(edge)), default: 0] += 1
    }
    for edge in heap.graph.edges(of: block) {
      held[Key(type: heap.typeName(Int(heap.graph.targets[edge])), field: heap.field(edge)), default: 0] += 1
    }
    func sorted(_ table: [Key: Int]) -> [(key: Key, value: Int)] {
      Array(
        table.sorted { ($1.value, $0.key.type, $0.key.field) < ($0.value, $1.key.type, $1.key.field) }
          .prefix(limit / 4))
    }
    func name(_ entry: (key: Key, value: Int)) -> String {
      (entry.value > 1 ? "\(Quantity.grouped(entry.value)) \u{D7} " : "") + entry.key.type
    }
    for (number, entry) in sorted(holders).enumerated() {
      dot.node("holder/\(number)", [name(entry)], [("color", "gray")])
      dot.edge("holder/\(number)", "object", Names.field(entry.key.field), [("style", "dashed")])
    }
    for (number, entry) in sorted(held).enumerated() {
      dot.node("held/\(number)", [name(entry)])
      dot.edge("object", "held/\(number)", Names.field(entry.key.field))
    }
  }
}

/// Which types hold which, by which field.
private struct TypeGraph {
  private struct Key: Hashable {
    var holder: UInt32
    var field: String
    var target: UInt32
  }

  private let heap: LoadedHeap
  private let centre: Set<UInt32>
  private var links: [(key: Key, count: Int)] = []

  init(_ heap: LoadedHeap, around centre: Set<UInt32>) {
    self.heap = heap
    self.centre = centre
    var sums: [Key: Int] = [:]
    for (key, count) in heap.countsOfLinks() {
      let field = heap.field(of: heap.file.places[Int(key.place)])
      sums[Key(holder: key.holder, field: field, target: key.target), default: 0] += count
    }
    links = sums.map { ($0.key, $0.value) }.sorted { a, b in
      let names = heap.types.groups
      return (b.count, names[Int(a.key.holder)].name, a.key.field, names[Int(a.key.target)].name)
        < (a.count, names[Int(b.key.holder)].name, b.key.field, names[Int(b.key.target)].name)
    }
  }

  /// Steps from the type that are drawn: to those that hold it, and to those that it holds.
  private static let (stepsUp, stepsDown) = (3, 2)

  func dot(_ name: String, limit: Int) -> String {
    var dot = Dot(name)
    let shown = around(limit)
    let tally = heap.countsOfGroups()
    for group in shown.sorted(by: { heap.types.groups[Int($0)].name < heap.types.groups[Int($1)].name }) {
      let count =
        "\(Quantity.grouped(tally.counts[Int(group)])), \(Quantity.bytes(Int(clamping: tally.bytes[Int(group)])))"
      dot.node(
        "\(group)", [heap.types.groups[Int(group)].name, count], centre.contains(group) ? [("penwidth", "2")] : [])
    }
    for link in links where shown.contains(link.key.holder) && shown.contains(link.key.target) {
      dot.edge(
        "\(link.key.holder)", "\(link.key.target)",
        Names.field(link.key.field) + (link.count > 1 ? " \u{D7} \(Quantity.grouped(link.count))" : ""))
    }
    return dot.text
  }

  /// The types near the one that was asked for, those with more references first.
  private func around(_ limit: Int) -> Set<UInt32> {
    var shown = centre
    for (steps, isUp) in [(Self.stepsUp, true), (Self.stepsDown, false)] {
      var edge = centre
      for _ in 0..<steps {
        var next = Set<UInt32>()
        for link in links where shown.count + next.count < limit {
          let (near, far) = isUp ? (link.key.target, link.key.holder) : (link.key.holder, link.key.target)
          if edge.contains(near), !shown.contains(far) { next.insert(far) }
        }
        shown.formUnion(next)
        edge = next
      }
    }
    return shown
  }
}
