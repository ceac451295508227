import UndeadReport

/// The blocks that a question is about.
package struct HeapSelection {
  /// What is asked for in detail.
  package enum Subject: Sendable, Equatable {
    /// A name of a type, its last part, or a pattern with `*`.
    case type(String)
    /// The block that an address lies in.
    case address(UInt64)
  }

  let heap: LoadedHeap
  package let name: String
  /// Numbers of groups; empty for one block.
  package let groups: [Int]
  /// Ascending.
  package let blocks: [Int]

  package init(_ heap: LoadedHeap, _ subject: Subject) throws(HeapQuestionError) {
    self.heap = heap
    switch subject {
    case .address(let address):
      guard let block = heap.graph.block(containing: address) else { throw .noBlock(address) }
      (name, groups, blocks) = (heap.typeName(block), [], [block])
    case .type(let pattern):
      let found = Self.groups(heap, pattern)
      var isMeant = [Bool](repeating: false, count: heap.types.groups.count)
      for group in found { isMeant[group] = true }
      let blocks = (0..<heap.graph.count).filter { isMeant[heap.group($0)] }
      guard !blocks.isEmpty else { throw .noType(pattern, similar: Self.similar(heap, pattern)) }
      let present = Set(blocks.map(heap.group))
      groups = found.filter(present.contains)
      name = groups.count == 1 ? heap.types.groups[groups[0]].name : pattern
      self.blocks = blocks
    }
  }

  /// The type of that name; else those whose name ends so, whatever their generic arguments; else those that a pattern
  /// with `*` matches; else those with the text in their names.
  private static func groups(_ heap: LoadedHeap, _ pattern: String) -> [Int] {
    let all = heap.types.groups
    if let exact = all.firstIndex(where: { $0.name == pattern }) { return [exact] }
    if pattern.contains("*") {
      let glob = HeapPattern(pattern)
      return all.indices.filter { glob.matches(all[$0].name) }
    }
    let named = all.indices.filter { number in
      let name = all[number].name
      let plain = name.prefix { $0 != "<" }
      return plain == pattern || plain.hasSuffix(".\(pattern)") || name.hasSuffix(".\(pattern)") && !name.contains("<")
    }
    return named.isEmpty ? all.indices.filter { all[$0].name.contains(pattern) } : named
  }

  /// Types whose names hold the last part of what was asked for, whatever the case of letters.
  private static func similar(_ heap: LoadedHeap, _ pattern: String) -> [String] {
    let word = pattern.split(separator: ".").last.map { $0.lowercased().filter { $0 != "*" } } ?? ""
    guard !word.isEmpty else { return [] }
    return Array(heap.types.groups.map(\.name).filter { $0.lowercased().contains(word) }.sorted().prefix(5))
  }
}
