import UndeadHeap
import UndeadReport

/// Allocation sites: ways to one line of the program are one.
enum HeapSites {
  /// So many stacks are looked at to find those that are of one line.
  private static let candidates = 1000

  static func rows(
    _ tables: inout HeapTables, _ symbols: HeapSymbols, least: UInt64, top: Int
  ) -> [HeapReport.SiteRow] {
    let stacks = tables.sites().lazy.filter { $0.bytes >= least }.prefix(max(candidates, top)).map(\.stack)
    symbols.prepare(stacks: stacks)
    let places = places(Array(stacks), symbols)
    let merged = tables.sites { stack in places[stack] ?? UInt64(stack) }
    return merged.filter { $0.bytes >= least }.prefix(top).map { HeapReport.SiteRow($0, symbols) }
  }

  /// A number for the function and line that allocated, by stack; other stacks have their own.
  static func places(_ stacks: [Snapshot.Index], _ symbols: HeapSymbols) -> [Snapshot.Index: UInt64] {
    struct Place: Hashable {
      var symbol: String
      var file: String?
      var line: Int?
    }
    var numbers: [Place: UInt64] = [:]
    var result: [Snapshot.Index: UInt64] = [:]
    for stack in stacks where stack != Snapshot.none {
      guard let frame = ReportText.site(symbols.backtrace(stack)) else { continue }
      let place = Place(symbol: frame.symbol, file: frame.file, line: frame.line)
      let number = numbers[place] ?? UInt64(stack)
      numbers[place] = number
      result[stack] = number
    }
    return result
  }
}
