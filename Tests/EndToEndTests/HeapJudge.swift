import Foundation
import UndeadHeap

/// Compares a heap file with what the program itself printed about its heap, a fact in each line, words between tabs:
///
///     block ADDRESS TYPE SIZE                  a reached block
///     reference FROM FIELD TO STRENGTH         such a reference exists, once; STRENGTH: counted, raw, weak, perhaps, joined by `|`
///     references FROM FIELD TO STRENGTH COUNT  the same, so many times
///     owned ADDRESS NAME                       as many counted references as its strong count says
///     borrowed ADDRESS NAME                    the same, or fewer, and what else names it is in the graph
///     root ADDRESS NAME                        a root whose name contains this refers to it
///     weak FROM TO                             a reference that holds nothing
///     retained ADDRESS BYTES                   by the dominators
struct HeapJudge {
  private let heap: LoadedHeap
  private var rank: [UInt64: Int] = [:]
  private var references: [Int: [Int]] = [:]  // by source
  private var counted: [Int] = []
  private var named: Set<Int> = []  // by references that count nothing, and roots
  private var roots: [Int: [String]] = [:]
  private let outlived: [Int]

  private static let strengths = ["counted", "raw", "weak", "perhaps", "number"]
  private static let weak: UInt32 = 2

  init(_ path: String) throws {
    heap = try LoadedHeap(try HeapFile(path: path))
    let graph = heap.graph
    outlived = (0..<graph.count).filter(heap.ownership.outlives)
    counted = Array(repeating: 0, count: graph.count)
    for block in 0..<graph.count {
      rank[graph.addresses[block]] = block
      references[block] = Array(graph.edges(of: block))
      for edge in graph.edges(of: block) {
        let target = Int(graph.targets[edge])
        switch graph.place(edge).strength {
        case 0: counted[target] += 1
        case 1, 3: named.insert(target)
        default: break
        }
      }
    }
    for edge in graph.rootEdges {
      named.insert(Int(edge.target))
      roots[Int(edge.target), default: []].append(heap.describe(graph.file.roots[Int(edge.root)]).name)
    }
  }

  /// What is wrong; at most the first twenty.
  func complaints(about truth: String) -> [String] {
    var complaints = countsThatAreTooLow()
    for line in truth.split(separator: "\n") {
      let words = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
      if let complaint = complaint(about: words) { complaints.append("\(complaint): \(line)") }
    }
    return Array(complaints.prefix(20))
  }

  /// No object has more counted references than its strong count says.
  private func countsThatAreTooLow() -> [String] {
    (0..<heap.graph.count).compactMap { block in
      let strong = heap.graph.strongCounts[block]
      guard strong != .max, counted[block] > strong else { return nil }
      let holders = references.flatMap { source, edges in
        edges.filter { heap.graph.targets[$0] == UInt32(block) }.map { "\(heap.typeName(source)).\(heap.field($0))" }
      }
      return "\(heap.typeName(block)) has \(counted[block]) counted references, its count is \(strong): \(holders)"
    }
  }

  private func complaint(about words: [String]) -> String? {
    guard words.count > 1, let address = UInt64(words[1], radix: 16) else { return "not understood" }
    guard let block = rank[address] else { return "no such block" }
    switch words[0] {
    case "block":
      if heap.typeName(block) != words[2] { return "the type is \(heap.typeName(block))" }
      if !heap.graph.shape(block).has(HeapFile.Shape.reached) { return "not reached" }
      return "\(heap.graph.size(block))" == words[3] ? nil : "the size is \(heap.graph.size(block))"
    case "reference": return reference(from: block, words, count: 1)
    case "references": return reference(from: block, words, count: Int(words[5])!)
    case "weak": return weak(from: block, words)
    case "owned", "borrowed": return owners(of: block, isBorrowed: words[0] == "borrowed")
    case "root":
      return (roots[block] ?? []).contains { $0.contains(words[2]) } ? nil : "the roots are \(roots[block] ?? [])"
    case "retained":
      // Programs do not count the tables that weak references to dead objects keep.
      let tables = outlived.filter { heap.dominators.dominates(block, $0) }.reduce(0) { $0 + heap.graph.size($1) }
      let retained = heap.dominators.retained[block] - tables
      return "\(retained)" == words[2] ? nil : "\(heap.typeName(block)) retains \(retained)"
    default: return "not understood"
    }
  }

  private func reference(from block: Int, _ words: [String], count: Int) -> String? {
    guard let target = UInt64(words[3], radix: 16).flatMap({ rank[$0] }) else { return "no such target" }
    let found = (references[block] ?? []).filter { heap.graph.targets[$0] == UInt32(target) }
    let right = found.filter { edge in
      let strength = Self.strengths[Int(heap.graph.place(edge).strength)]
      return heap.field(edge) == words[2] && words[4].split(separator: "|").contains { $0 == strength }
    }
    if right.count == count { return nil }
    return "found \(found.map { "\(heap.field($0)) \(Self.strengths[Int(heap.graph.place($0).strength)])" })"
  }

  private func weak(from block: Int, _ words: [String]) -> String? {
    let isThere = (references[block] ?? []).contains { edge in
      heap.graph.place(edge).strength == Self.weak
        && UInt64(words[2], radix: 16) == heap.graph.addresses[Int(heap.graph.targets[edge])]
    }
    return isThere ? nil : "not found"
  }

  private func owners(of block: Int, isBorrowed: Bool) -> String? {
    let strong = heap.graph.strongCounts[block]
    if counted[block] == strong || (isBorrowed && counted[block] < strong && named.contains(block)) { return nil }
    return "the count is \(strong), \(counted[block]) counted references were found"
  }
}
