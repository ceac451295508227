import UndeadReport
import UndeadSystem

/// Who refers to blocks, and to what they refer, by field.
package struct HeapReferrers {
  private let heap: LoadedHeap
  private let isMeant: UnsafeMutableBufferPointer<Bool>

  package init(_ heap: LoadedHeap, _ blocks: [Int]) {
    self.heap = heap
    isMeant = .filled(heap.graph.count, with: false)
    for block in blocks { isMeant[block] = true }
  }

  package func deallocate() { isMeant.deallocate() }

  private struct Key: Hashable {
    var type: String
    var field: String
    var strength: String?
  }

  /// References of one field.
  package struct Row {
    /// Of the object at the other end, or kind and name of a root.
    package var type: String
    package var field: String
    /// nil for references that keep alive.
    package var strength: String?
    package var count: Int
    /// Shallow bytes of what is referred to, each block once.
    package var bytes = 0
  }

  /// How a reference of a strength is called; nil for one that keeps alive, and for numbers, which are none, the second
  /// part is false.
  private func strength(_ edge: Int) -> (name: String?, isReference: Bool) {
    let place = heap.graph.place(edge)
    switch place.strength {
    case HeapFile.Strength.counted: return (nil, true)
    case HeapFile.Strength.none: return (place.isUnowned ? "unowned" : "weak", true)
    case HeapFile.Strength.number: return (nil, false)
    default: return (heap.ownership.owns[edge] ? nil : "borrowed", true)
    }
  }

  private static let strengths: [String?] = [nil, "weak", "borrowed", "unowned"]

  /// A reference to a block, and the block that has it.
  package struct Incoming {
    var holder: Int
    var edge: Int
  }

  /// The references to each of the blocks, which should be few.
  package func incoming() -> [Int: [Incoming]] {
    var result: [Int: [Incoming]] = [:]
    for block in 0..<heap.graph.count {
      for edge in heap.graph.edges(of: block) where isMeant[Int(heap.graph.targets[edge])] {
        result[Int(heap.graph.targets[edge]), default: []].append(Incoming(holder: block, edge: edge))
      }
    }
    return result
  }

  private static let holderLimit = 8

  /// The strong references to one of the blocks that were found, and who else may have the others; nil if its count is not
  /// known.
  package func count(of block: Int, _ incoming: [Incoming]) -> ReferenceCount? {
    let strong = Int(heap.graph.strongCounts[block])
    guard heap.graph.strongCounts[block] != HeapGraph.unknownCount else { return nil }
    var counts: [Key: Int] = [:]
    var candidates: Set<String> = []
    for reference in incoming where heap.ownership.reached[reference.holder] == heap.ownership.reached[block] {
      let strength = heap.graph.place(reference.edge).strength
      guard strength != HeapFile.Strength.none, strength != HeapFile.Strength.number else { continue }
      let holder = holder(reference.holder, heap.field(reference.edge))
      if strength == HeapFile.Strength.counted {
        counts[Key(type: holder.type, field: holder.field), default: 0] += 1
      } else {
        candidates.insert("\(holder.type) \(holder.field)")
      }
    }
    for edge in heap.graph.rootEdges where Int(edge.target) == block {
      let root = heap.file.roots[Int(edge.root)]
      guard !root.isWeak else { continue }
      if root.kind == HeapFile.Root.global {
        counts[Key(type: heap.text(ofRoot: root), field: ""), default: 0] += 1
      } else {
        candidates.insert(heap.text(ofRoot: root))
      }
    }
    let found = min(counts.values.reduce(0, +), strong)
    let holders = counts.map { ReferenceCount.Holder(type: $0.type, field: $0.field, count: $1) }.ordered {
      ($1.count, $0.type, $0.field) < ($0.count, $1.type, $1.field)
    }
    return ReferenceCount(
      total: strong, found: found, holders: Array(holders.prefix(Self.holderLimit)),
      candidates: found < strong && !candidates.isEmpty ? Array(candidates.sorted().prefix(Self.holderLimit)) : nil)
  }

  /// References to the blocks.
  package func referrers() -> [Row] {
    let graph = heap.graph
    var counts: [Key: Int] = [:]
    // Places of holders that are shown as they are count without a look at each holder.
    var plain: [UInt64: Int] = [:]
    for block in 0..<graph.count {
      for edge in graph.edges(of: block) where isMeant[Int(graph.targets[edge])] {
        let (name, isReference) = strength(edge)
        guard isReference else { continue }
        if Self.isShown(heap.types.groups[heap.group(block)].role) {
          let code = UInt64(Self.strengths.firstIndex(of: name) ?? 0)
          plain[UInt64(heap.group(block)) << 34 | UInt64(graph.places[edge]) << 2 | code, default: 0] += 1
        } else {
          let holder = holder(block, heap.field(edge))
          counts[Key(type: holder.type, field: holder.field, strength: name), default: 0] += 1
        }
      }
    }
    for (key, count) in plain {
      let field = heap.field(of: heap.file.places[Int(key >> 2 & 0xFFFF_FFFF)])
      let strength = Self.strengths[Int(key & 3)]
      counts[
        Key(
          type: heap.types.groups[Int(key >> 34)].name, field: field, strength: strength), default: 0] += count
    }
    addRoots(&counts)
    return Self.rows(counts)
  }

  private static func rows(_ counts: [Key: Int]) -> [Row] {
    let rows = counts.map { key, count in
      Row(type: key.type, field: key.field, strength: key.strength, count: count)
    }
    return rows.ordered {
      ($0.strength == nil ? 0 : 1, $1.count, $0.type, $0.field, $0.strength ?? "")
        < ($1.strength == nil ? 0 : 1, $0.count, $1.type, $1.field, $1.strength ?? "")
    }
  }

  private func addRoots(_ counts: inout [Key: Int]) {
    for (number, edge) in heap.graph.rootEdges.enumerated() where isMeant[Int(edge.target)] {
      let root = heap.file.roots[Int(edge.root)]
      let owns = heap.ownership.rootOwns[number]
      counts[
        Key(type: heap.text(ofRoot: root), field: "", strength: owns ? nil : root.isWeak ? "weak" : "borrowed"),
        default: 0] += 1
    }
  }

  /// Objects, tasks and memory are shown as they are; storage, contexts and boxes by the object that has them.
  private static func isShown(_ role: NodeRole) -> Bool { role.isVisible || role == .memory }

  private func holder(_ block: Int, _ field: String) -> (type: String, field: String) {
    var labels = [field]
    var next = block
    var seen: Set<Int> = []
    while !Self.isShown(heap.types.groups[heap.group(next)].role) {
      guard heap.paths.edge[next] != HeapPaths.none else {
        let node = Int(heap.paths.holder[next])
        return (heap.text(ofNode: node), HeapContainers.joined(labels.reversed()))
      }
      // The way through what holds its like, as the boxes of a tree, is another one for each.
      guard seen.insert(heap.group(next)).inserted else { return (heap.typeName(block), field) }
      labels.append(heap.field(Int(heap.paths.edge[next])))
      next = Int(heap.paths.holder[next])
    }
    return (heap.typeName(next), HeapContainers.joined(labels.reversed()))
  }

  /// References of the blocks.
  package func references() -> [Row] {
    let graph = heap.graph
    var rows: [Key: (count: Int, bytes: UInt64)] = [:]
    var seen = Set<Int>()
    for block in 0..<graph.count where isMeant[block] {
      for edge in graph.edges(of: block) {
        let (name, isReference) = strength(edge)
        guard isReference else { continue }
        let target = Int(graph.targets[edge])
        let key = Key(type: heap.typeName(target), field: heap.field(edge), strength: name)
        rows[key, default: (0, 0)].count += 1
        if seen.insert(target).inserted { rows[key]!.bytes &+= graph.size(target) }
      }
    }
    let result = rows.map { key, sum in
      Row(
        type: key.type, field: key.field, strength: key.strength, count: sum.count, bytes: Int(clamping: sum.bytes))
    }
    return result.ordered {
      ($1.bytes, $1.count, $0.field, $0.type, $0.strength ?? "") < (
        $0.bytes, $0.count, $1.field, $1.type, $1.strength ?? ""
      )
    }
  }
}
