#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What diagnostics noticed, for a report: those that say the same of the same timer are one entry with a count.
struct DiagnosticLog {
  struct Entry {
    var diagnostic: RunLoopDiagnostic
    var count = 1
    var weight: Int64
  }

  private struct Key: Hashable {
    var kind: String
    var details: [String: String]
    var creation: [UInt]
  }

  /// Details that differ from one time to the next.
  private static let figures: Set = ["seconds", "culpritSeconds", "missed", "timers", "address"]
  private static let limit = 500

  /// The oldest first.
  private(set) var entries: [Entry] = []
  /// How many had no room.
  private(set) var dropped = 0
  private var places: [Key: Int] = [:]

  mutating func add(_ diagnostic: RunLoopDiagnostic, weight: Int64) {
    let key = Key(
      kind: diagnostic.kind.rawValue, details: diagnostic.details.filter { !Self.figures.contains($0.key) },
      creation: diagnostic.backtraces.first { $0.role == "creation" }?.addresses ?? [])
    if let place = places[key] {
      entries[place].count += 1
      if weight > entries[place].weight {
        entries[place].weight = weight
        entries[place].diagnostic = diagnostic
      }
    } else if entries.count < Self.limit {
      places[key] = entries.count
      entries.append(Entry(diagnostic: diagnostic, weight: weight))
    } else {
      dropped += 1
    }
  }
}
#endif
