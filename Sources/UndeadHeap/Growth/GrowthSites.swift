import UndeadReport

/// Where the blocks of two heaps were allocated: by the function of the program, which is the same in another run.
struct GrowthSites {
  /// Names of the code of one heap.
  struct Side {
    let side: GrowthSide
    var frames: FrameNames
    /// By index of STACKS: its place in the program.
    var places: [Snapshot.Index: String] = [:]
  }

  var before: Side
  var after: Side
  /// What the reader has to know about names that were not found.
  private(set) var notes: [String] = []
  private let countsLines: Bool
  private var ofTypes: [UInt32: Amounts] = [:]
  private var ofKeys: [UInt32: Amounts] = [:]

  private struct Stack: Hashable {
    var number: Snapshot.Index
    var isAfter: Bool
  }
  private typealias Amounts = [Stack: HeapDiff.Amount]

  init(_ old: GrowthSide, _ new: GrowthSide, _ names: GrowthNames, _ symbolizer: Symbolizer?) {
    let (first, second) = (old.heap.file.snapshot, new.heap.file.snapshot)
    var notes: [String] = []
    before = Side(side: old, frames: FrameNames(first, symbols: Self.symbols(first, symbolizer, &notes)))
    after = Side(side: new, frames: FrameNames(second, symbols: Self.symbols(second, symbolizer, &notes)))
    self.notes = notes
    countsLines = Self.isSameBuild(first, second)
    for (side, isAfter) in [(old, false), (new, true)] {
      for block in 0..<side.heap.graph.count {
        let stack = Stack(number: side.heap.graph.stack(block), isAfter: isAfter)
        let size = Int(clamping: side.heap.graph.size(block))
        ofTypes[side.types[block], default: [:]][stack, default: .init()].add(size)
        if side.isCounted[block] { ofKeys[side.keys[block], default: [:]][stack, default: .init()].add(size) }
      }
    }
  }

  private static func symbols(_ snapshot: Snapshot, _ symbolizer: Symbolizer?, _ notes: inout [String]) -> SymbolTable {
    guard let symbolizer else { return snapshot.symbols }
    let result = symbolizer.symbolize(snapshot)
    for note in result.notes where !notes.contains(note) { notes.append(note) }
    return result.symbols
  }

  /// Lines move from build to build.
  private static func isSameBuild(_ old: Snapshot, _ new: Snapshot) -> Bool {
    func builds(_ snapshot: Snapshot) -> Set<String> {
      Set(snapshot.modules.filter { !$0.isSystem }.map { "\(SymbolText.fileName($0.path)) \($0.buildID)" })
    }
    return builds(old) == builds(new)
  }

  mutating func sites(ofType type: UInt32) -> [HeapDiff.Site] { sites(ofTypes[type] ?? [:]) }

  mutating func sites(ofKey key: UInt32) -> [HeapDiff.Site] { sites(ofKeys[key] ?? [:]) }

  /// Sites of which there is more than before, those that grew most first.
  private mutating func sites(_ amounts: Amounts) -> [HeapDiff.Site] {
    var merged: [String: (before: HeapDiff.Amount, after: HeapDiff.Amount, example: Stack, most: Int)] = [:]
    let order = amounts.sorted { ($0.key.isAfter ? 1 : 0, $0.key.number) < ($1.key.isAfter ? 1 : 0, $1.key.number) }
    for (stack, amount) in order {
      let place = place(stack)
      var entry = merged[place] ?? (.init(), .init(), stack, -1)
      if stack.isAfter { entry.after.add(amount) } else { entry.before.add(amount) }
      if stack.isAfter, amount.bytes > entry.most { (entry.example, entry.most) = (stack, amount.bytes) }
      merged[place] = entry
    }
    let grown = merged.filter {
      $0.value.after.bytes > $0.value.before.bytes || $0.value.after.count > $0.value.before.count
    }
    let sorted = grown.sorted { a, b in
      (b.value.after.bytes - b.value.before.bytes, a.key) < (a.value.after.bytes - a.value.before.bytes, b.key)
    }
    return sorted.map { entry in
      HeapDiff.Site(
        before: entry.value.before, after: entry.value.after, allocation: backtrace(entry.value.example))
    }
  }

  private mutating func backtrace(_ stack: Stack) -> Backtrace {
    stack.isAfter ? after.frames.backtrace(stack.number) : before.frames.backtrace(stack.number)
  }

  /// The function of the program that allocated, or the outermost one of a library, with the line where it is the same.
  private mutating func place(_ stack: Stack) -> String {
    if let known = stack.isAfter ? after.places[stack.number] : before.places[stack.number] { return known }
    let backtrace = backtrace(stack)
    let frame = backtrace.firstOwnFrame ?? backtrace.frames.last
    var place = frame.map { "\($0.module) \(SymbolText.withoutThunks($0.symbol))" } ?? ""
    if countsLines, let line = frame?.line { place += ":\(line)" }
    if stack.isAfter { after.places[stack.number] = place } else { before.places[stack.number] = place }
    return place
  }
}

extension HeapDiff.Amount {
  fileprivate mutating func add(_ size: Int) {
    count += 1
    bytes += size
  }

  fileprivate mutating func add(_ other: Self) {
    count += other.count
    bytes += other.bytes
  }
}
