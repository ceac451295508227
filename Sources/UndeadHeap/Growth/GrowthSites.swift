import UndeadReport
import UndeadSystem

/// Where the blocks of two heaps were allocated: by the function of the program, which is the same in another run.
package struct GrowthSites {
  /// Blocks that one function of the program allocated.
  package struct Site {
    package var before: HeapAmount
    package var after: HeapAmount
    /// The backtrace of most of them.
    package var allocation: Backtrace
    /// Nil where allocations are not sampled.
    package var margin: HeapAmount?
  }

  /// Names of the code of one heap.
  package struct Side {
    let side: GrowthSide
    package let frames: FrameNames
    /// By index of STACKS: its place in the program.
    fileprivate var places: [Snapshot.Index: String] = [:]
  }

  package private(set) var before: Side
  package private(set) var after: Side
  /// What the reader has to know about names that were not found.
  package private(set) var notes: [String] = []
  private let countsLines: Bool
  private let stacks: GrowthStacks

  package init(_ old: GrowthSide, _ new: GrowthSide, _ symbolizer: Symbolizer?) {
    let (first, second) = (old.heap.file.snapshot, new.heap.file.snapshot)
    var notes: [String] = []
    before = Side(side: old, frames: FrameNames(first, symbols: Self.symbols(first, symbolizer, &notes)))
    after = Side(side: new, frames: FrameNames(second, symbols: Self.symbols(second, symbolizer, &notes)))
    self.notes = notes
    countsLines = Self.isSameBuild(first, second)
    stacks = GrowthStacks(old, new)
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

  package mutating func sites(ofType type: UInt32) -> [Site] { sites(stacks.ofTypes[type] ?? [:]) }

  package mutating func sites(ofKey key: UInt32) -> [Site] { sites(stacks.ofKeys[key] ?? [:]) }

  /// Sites of which there is more than before, those that grew most first.
  private mutating func sites(_ amounts: GrowthStacks.Amounts) -> [Site] {
    var merged: [String: (before: GrowthSum, after: GrowthSum, example: GrowthStacks.Stack, most: Int)] = [:]
    let order = amounts.ordered { ($0.key.isAfter ? 1 : 0, $0.key.number) < ($1.key.isAfter ? 1 : 0, $1.key.number) }
    for (stack, amount) in order {
      let place = place(stack)
      var entry = merged[place] ?? (.init(), .init(), stack, -1)
      if stack.isAfter { entry.after += amount } else { entry.before += amount }
      if stack.isAfter, amount.shown.bytes > entry.most { (entry.example, entry.most) = (stack, amount.shown.bytes) }
      merged[place] = entry
    }
    let grown = merged.map { place, sums in
      (place: place, before: sums.before.shown, after: sums.after.shown, sums: sums)
    }.filter { $0.after.bytes > $0.before.bytes || $0.after.count > $0.before.count }
    let sorted = grown.ordered { a, b in
      (b.after.bytes.minus(b.before.bytes), a.place) < (a.after.bytes.minus(a.before.bytes), b.place)
    }
    return sorted.map { entry in
      Site(
        before: entry.before, after: entry.after, allocation: backtrace(entry.sums.example),
        margin: GrowthSum.margin(entry.sums.before, entry.sums.after))
    }
  }

  private mutating func backtrace(_ stack: GrowthStacks.Stack) -> Backtrace {
    stack.isAfter ? after.frames.backtrace(stack.number) : before.frames.backtrace(stack.number)
  }

  /// The function of the program that allocated, or the outermost one of a library, with the line where it is the same.
  private mutating func place(_ stack: GrowthStacks.Stack) -> String {
    if let known = stack.isAfter ? after.places[stack.number] : before.places[stack.number] { return known }
    let backtrace = backtrace(stack)
    let frame = backtrace.site
    var place = frame.map { "\($0.module) \(FunctionName.withoutThunks($0.symbol))" } ?? ""
    if countsLines, let line = frame?.line { place += ":\(line)" }
    if stack.isAfter { after.places[stack.number] = place } else { before.places[stack.number] = place }
    return place
  }
}
