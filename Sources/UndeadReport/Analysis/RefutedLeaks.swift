extension RefutedLeak {
  /// The refuted leaks of a process, in the order in which they were found.
  static func all(in snapshot: Snapshot, symbols: SymbolTable) -> [RefutedLeak] {
    guard !snapshot.refuted.isEmpty else { return [] }
    let frames = FrameNames(snapshot, symbols: symbols)
    return snapshot.refuted.map { RefutedLeak($0, snapshot, frames) }
  }

  private init(_ record: Snapshot.RefutedRecord, _ snapshot: Snapshot, _ frames: FrameNames) {
    let kinds: [Kind] = [.freed, .gone, .reached, .named, .counted]
    let path = snapshot.strings[record.path]
    kind = kinds.indices.contains(Int(record.how) - 1) ? kinds[Int(record.how) - 1] : Kind(rawValue: "unknown")
    type = snapshot.strings[record.type]
    address = "0x" + String(record.address, radix: 16)
    size = Int(clamping: record.size)
    certainty = Certainty(flags: record.why, strong: record.strong, counted: record.counted)
    isRevived = record.flags & 1 != 0
    calledByCheck = Int(record.calledBy)
    refutedByCheck = Int(record.refutedBy)
    allocation = frames.backtrace(record.allocation)
    end = record.end == Snapshot.none ? nil : frames.backtrace(record.end)
    self.path = path.isEmpty ? nil : Self.readable(path)
  }

  /// Globals are named by their symbols.
  private static func readable(_ path: String) -> String {
    let words = path.split(separator: " ", omittingEmptySubsequences: false)
    return words.map { $0.hasPrefix("$s") ? Demangler.readable(String($0)) : String($0) }.joined(separator: " ")
  }
}

extension LeakReport.Certainty {
  /// Of the flags of a node; nil if the counts had nothing to decide.
  init?(flags: UInt32, strong: UInt32, counted: UInt32) {
    guard flags & Snapshot.Node.byCounts != 0 else { return nil }
    self.init(
      namedBy: (flags & 32 != 0 ? ["number"] : []) + (flags & 64 != 0 ? ["place"] : []),
      strong: strong == 0 ? nil : Int(strong), counted: strong == 0 ? nil : Int(counted))
  }

  /// One sentence.
  static func text(_ certainty: LeakReport.Certainty?) -> String {
    guard let certainty else { return "no word that was looked at names any object of it" }
    let words = certainty.namedBy.map { $0 == "number" ? "a number" : "a place that may be out of use" }
    let named = words.isEmpty ? "a word that may be stale leads to it" : words.joined(separator: " and ") + " names it"
    guard let strong = certainty.strong, let counted = certainty.counted else {
      return named + ", but all counted references to it are of the leak itself"
    }
    let references = strong == 1 ? "its only reference is" : "\(counted) of its \(strong) references are"
    return named + ", but \(references) of the leak itself"
  }

  /// Of several objects of a leak: whatever named any of them, and the counts of the first.
  static func merged(_ certainties: [LeakReport.Certainty?]) -> LeakReport.Certainty? {
    let known = certainties.compactMap(\.self)
    guard var first = known.first else { return nil }
    first.namedBy = ["number", "place"].filter { word in known.contains { $0.namedBy.contains(word) } }
    return first
  }
}
