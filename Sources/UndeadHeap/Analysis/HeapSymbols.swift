import UndeadReport

/// Names of code addresses of a heap: those of the file, and others looked up when they are to be shown.
package final class HeapSymbols {
  private let heap: LoadedHeap
  private let symbolizer: Symbolizer?
  package private(set) var table: SymbolTable
  /// What the reader has to know about names that were not found.
  package private(set) var notes: [String] = []
  private var backtraces: FrameNames?
  private(set) lazy var code = ProgramCode(heap, symbolizer)

  /// - Parameter symbolizer: nil to use only the names in the file.
  package init(_ heap: LoadedHeap, _ symbolizer: Symbolizer? = Symbolizer()) {
    self.heap = heap
    self.symbolizer = symbolizer
    table = heap.file.snapshot.symbols
  }

  /// Finds the names of code that is to be shown; many at once are found faster than one by one.
  package func prepare(stacks: some Sequence<Snapshot.Index>, functions: some Sequence<UInt64> = []) {
    var missing = Set<UInt64>()
    for stack in Set(stacks) {
      for address in heap.file.snapshot.addresses(ofStack: stack) where address > 0 { missing.insert(address - 1) }
    }
    for function in functions where function != 0 { missing.insert(function) }
    missing = missing.filter { table[$0] == nil }
    guard !missing.isEmpty, let symbolizer else { return }
    let found = symbolizer.symbolize(missing.sorted(), modules: heap.file.snapshot.modules)
    table.frames.merge(found.symbols.frames) { known, _ in known }
    for note in found.notes where !notes.contains(note) { notes.append(note) }
    backtraces = nil
  }

  /// The frames of a stack, innermost first.
  package func backtrace(_ stack: Snapshot.Index) -> Backtrace {
    let known = backtraces ?? FrameNames(heap.file.snapshot, symbols: table)
    backtraces = known
    return known.backtrace(stack)
  }

  /// A number for the function and line that allocated, by stack; other stacks have their own.
  package func places(of stacks: [Snapshot.Index]) -> [Snapshot.Index: UInt64] {
    struct Place: Hashable {
      var symbol: String
      var file: String?
      var line: Int?
    }
    var numbers: [Place: UInt64] = [:]
    var result: [Snapshot.Index: UInt64] = [:]
    for stack in stacks where stack != Snapshot.none {
      guard let frame = backtrace(stack).site else { continue }
      let place = Place(symbol: frame.symbol, file: frame.file, line: frame.line)
      let number = numbers[place] ?? UInt64(stack)
      numbers[place] = number
      result[stack] = number
    }
    return result
  }
}
