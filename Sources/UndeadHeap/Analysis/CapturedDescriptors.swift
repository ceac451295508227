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
  /// By block: references to it, also to contexts that refer to such blocks.
  private var references: [Int: [Int]]
  private struct Closure: Hashable {
    var function: UInt64
    /// Where the context has the reference to the variable; nil if it has the number itself.
    var captured: Int64?
  }

  /// Where the numbers are that a closure uses so.
  private var known: [Closure: Set<Int64>] = [:]

  init(_ heap: LoadedHeap, _ code: ProgramCode) {
    (self.heap, self.code) = (heap, code)
    let unproved = heap.file.holders.lazy.filter {
      $0.block < UInt32(heap.graph.count) && heap.file.snapshot.strings[$0.field] == Self.unproved
    }
    references = Self.references(to: Set(unproved.map { Int($0.block) }), heap)
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

  /// True if a closure uses the number at `offset` of the block so.
  mutating func isUsed(_ block: Int, _ offset: Int64) -> Bool {
    closures(of: block).contains { uses(by: $0).contains(offset) }
  }

  private func closures(of block: Int) -> [Closure] {
    let graph = heap.graph
    return (references[block] ?? []).flatMap { edge -> [Closure] in
      let place = graph.place(edge)
      if place.function != 0 { return [Closure(function: place.function)] }
      guard !place.isElement else { return [] }
      let outer = references[graph.source(of: edge)] ?? []
      return outer.map { Closure(function: graph.place($0).function, captured: Int64(place.offset)) }
    }
  }

  private mutating func uses(by closure: Closure) -> Set<Int64> {
    if let known = known[closure] { return known }
    var uses: Set<Int64> = []
    if closure.function != 0, let (code, linked) = code.code(at: closure.function) {
      uses = FieldReads.descriptors(usedBy: linked, in: code, captured: closure.captured)
    }
    known[closure] = uses
    return uses
  }
}
