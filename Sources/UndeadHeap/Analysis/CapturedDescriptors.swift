import UndeadReport

/// Which numbers that closures captured are those of open files: their code gives them to `close`, `read` or alike.
///
/// A closure has the number in its context, or there a reference to the variable that has it.
struct CapturedDescriptors {
  /// As the instrument labels them (UNDEAD_CAPTURED): what has a type of its own, and what C calls an int.
  static let label = "captured"
  static let unproved = "captured Int32"

  private let heap: LoadedHeap
  private let code: ProgramCode
  /// By block: how many such numbers it has.
  private let counts: [Int: Int]
  /// By block: references to it, also to contexts that refer to such blocks.
  private var references: [Int: [Int]]
  private var known: [Int: Bool] = [:]

  init(_ heap: LoadedHeap) {
    self.heap = heap
    code = ProgramCode(heap)
    let unproved = heap.file.holders.lazy.filter {
      $0.block < UInt32(heap.graph.count) && heap.file.snapshot.strings[$0.field] == Self.unproved
    }
    counts = Dictionary(unproved.map { (Int($0.block), 1) }, uniquingKeysWith: +)
    references = Self.references(to: Set(counts.keys), heap)
    let contexts = references.values.joined().map { heap.graph.source(of: $0) }.filter {
      heap.types.groups[heap.group($0)].kind == .context
    }
    references.merge(Self.references(to: Set(contexts).subtracting(references.keys), heap)) { first, _ in first }
  }

  private static func references(to blocks: Set<Int>, _ heap: LoadedHeap) -> [Int: [Int]] {
    var found: [Int: [Int]] = [:]
    guard !blocks.isEmpty else { return found }
    for edge in 0..<heap.graph.targets.count where blocks.contains(Int(heap.graph.targets[edge])) {
      guard heap.graph.place(edge).strength != HeapFile.Strength.none else { continue }
      found[Int(heap.graph.targets[edge]), default: []].append(edge)
    }
    return found
  }

  /// True if a closure uses all of the block's numbers so: which is which, the heap file does not say.
  mutating func isUsed(_ block: Int) -> Bool {
    if let answer = known[block] { return answer }
    let answer = uses(of: block).contains { $0.count == counts[block] }
    known[block] = answer
    return answer
  }

  /// By closure.
  private func uses(of block: Int) -> some Sequence<Set<Int64>> {
    let graph = heap.graph
    return (references[block] ?? []).lazy.flatMap { edge -> [Set<Int64>] in
      let place = graph.place(edge)
      if place.function != 0 { return [uses(by: place.function, nil)] }
      guard !place.isElement else { return [] }
      let outer = references[graph.source(of: edge)] ?? []
      return outer.map { uses(by: graph.place($0).function, Int64(place.offset)) }
    }
  }

  private func uses(by function: UInt64, _ captured: Int64?) -> Set<Int64> {
    guard function != 0, let (code, linked) = code.code(at: function) else { return [] }
    return FieldReads.descriptors(usedBy: linked, in: code, captured: captured)
  }
}
