import UndeadProfile
import UndeadReport
import UndeadSystem

/// What was allocated after a mark and is still in memory.
struct BornSince {
  private let rows: [AllocationSites.Row]
  private let sites: AllocationSites
  private let mark: (number: Int, name: String)

  /// - Parameter mark: name of a mark, of which the newest counts, or its number.
  /// - Returns: nil if there is no such mark.
  init?(_ sites: AllocationSites, mark: String) {
    let found = sites.generations.filter { $0.value == mark || String($0.key) == mark }.max { $0.key < $1.key }
    guard let found else { return nil }
    self.mark = (found.key, found.value)
    self.sites = sites
    rows = sites.rows.filter { $0.generation >= found.key }
  }

  /// The JSON of the answer; keys are only added within a schema version.
  struct Answer: Encodable {
    struct Mark: Encodable {
      var number: Int
      var name: String
    }

    struct TypeRow: Encodable {
      var type: String
      var module: String
      var count: Int
      var bytes: Int
      var sites: [Site]
    }

    struct Site: Encodable {
      var count: Int
      var bytes: Int
      var allocation: Backtrace
    }

    var schemaVersion = 1
    var kind = "bornSince"
    var tool = LeakReport.Tool()
    var mark: Mark
    var count: Int
    var bytes: Int
    /// The most bytes first.
    var types: [TypeRow]
    /// How many types are left out.
    var omittedTypes: Int
    var notes: [String]
  }

  func answer(_ symbols: SymbolTable, top: Int?) -> Answer {
    let groups = Dictionary(grouping: rows) { [$0.type, $0.module] }
    let types = groups.map { key, rows in
      Answer.TypeRow(
        type: key[0], module: key[1], count: rows.reduce(0) { $0 + $1.count }, bytes: Self.bytes(rows),
        sites: Self.sites(rows, symbols))
    }.sorted { a, b in (b.bytes, b.count, a.type, a.module) < (a.bytes, a.count, b.type, b.module) }
    return Answer(
      mark: .init(number: mark.number, name: mark.name), count: rows.reduce(0) { $0 + $1.count },
      bytes: Self.bytes(rows), types: Array(types.prefix(top ?? .max)),
      omittedTypes: max(0, types.count - (top ?? .max)), notes: sites.notes)
  }

  private static func bytes(_ rows: [AllocationSites.Row]) -> Int {
    Int(clamping: rows.reduce(0) { $0 &+ $1.bytes })
  }

  private static func sites(_ rows: [AllocationSites.Row], _ symbols: SymbolTable) -> [Answer.Site] {
    let stacks = Dictionary(grouping: rows) { $0.stack }
    let sites = stacks.map { stack, rows in
      (
        stack: stack,
        site: Answer.Site(
          count: rows.reduce(0) { $0 + $1.count }, bytes: bytes(rows),
          allocation: Backtrace(frames: stack.filter { $0 > 0 }.flatMap { symbols[$0 - 1] ?? [] }))
      )
    }.sorted { a, b in
      if a.site.bytes != b.site.bytes { return a.site.bytes > b.site.bytes }
      return a.stack.lexicographicallyPrecedes(b.stack)
    }
    return sites.prefix(siteLimit).map(\.site)
  }

  private static let siteLimit = 5
}

extension BornSince.Answer {
  /// For people: a line for each type, and where most of it was allocated.
  var text: String {
    let amount = "\(Quantity.of(count, "block")), \(Quantity.bytes(bytes))"
    var lines: [TextLine] = ["Born after mark \(mark.number) '\(mark.name)' and still in memory: \(amount)", ""]
    for row in types {
      lines.append(
        "\(Quantity.right(Quantity.bytes(row.bytes), 12)) \(Quantity.right(String(row.count), 10))  \(row.type)")
      if let site = row.sites.first.flatMap({ $0.allocation.site }) {
        let place = site.file.map { " at \($0):\(site.line ?? 0)" } ?? ""
        lines.append("\(TextLine.blanks(25))in \(StackText.function(site))\(place)")
      }
    }
    if omittedTypes > 0 { lines += ["", "\(omittedTypes) more types: ?top=N, or ?format=json"] }
    for note in notes { lines.append("note: \(note)") }
    return lines.text(ReportTextOptions())
  }
}
