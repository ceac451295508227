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
    let places = symbols.places(of: Array(stacks))
    let merged = tables.sites { stack in places[stack] ?? UInt64(stack) }
    return merged.filter { $0.bytes >= least }.prefix(top).map { HeapReport.SiteRow($0, symbols) }
  }
}
