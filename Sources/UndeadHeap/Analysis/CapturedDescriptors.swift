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
  private let counts: [UInt32: Int]
  private var known: [UInt32: Bool] = [:]

  init(_ heap: LoadedHeap) {
    self.heap = heap
    code = ProgramCode(heap)
    let unproved = heap.file.holders.lazy.filter { heap.file.snapshot.strings[$0.field] == Self.unproved }
    counts = Dictionary(unproved.map { ($0.block, 1) }, uniquingKeysWith: +)
  }

  /// True if all of the block's numbers are used so: which is which, the heap file does not say.
  mutating func isUsed(_ block: UInt32) -> Bool {
    if let answer = known[block] { return answer }
    let answer = uses(of: Int(block)).count == counts[block]
    known[block] = answer
    return answer
  }

  private func uses(of block: Int) -> Set<Int64> {
    let (graph, paths) = (heap.graph, heap.paths)
    guard paths.edge[block] != HeapPaths.none else { return [] }
    let place = graph.place(Int(paths.edge[block]))
    if place.function != 0 { return uses(by: place.function, nil) }
    let holder = Int(paths.holder[block])
    guard heap.types.groups[heap.group(holder)].kind == .context, !place.isElement, paths.edge[holder] != HeapPaths.none
    else { return [] }
    return uses(by: graph.place(Int(paths.edge[holder])).function, Int64(place.offset))
  }

  private func uses(by function: UInt64, _ captured: Int64?) -> Set<Int64> {
    guard function != 0, let (code, linked) = code.code(at: function) else { return [] }
    return FieldReads.descriptors(usedBy: linked, in: code, captured: captured)
  }
}
