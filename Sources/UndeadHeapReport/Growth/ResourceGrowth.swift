import UndeadHeap
import UndeadReport
import UndeadSystem

extension HeapDiff {
  /// Open files, or threads, of which there are more than before: those that one field or one function has.
  package struct ResourceGrowth: Codable, Sendable, Equatable {
    /// `descriptor` or `thread`.
    package var kind: String
    /// `socket of App.Connection.fd`, or name and function of a thread.
    package var name: String
    package var before: Int
    package var after: Int
    /// A path, or the two ends of a connection, of one of the new; empty for threads.
    package var example: String
    package var retainPath: [LeakReport.PathStep]
    package var allocation: LeakReport.Backtrace
  }

  /// What there is more of, the most first; none if one of the files does not say what there was.
  static func resources(
    from old: LoadedHeap, to new: LoadedHeap, _ symbolizer: Symbolizer?
  ) -> [ResourceGrowth] {
    guard let before = HeapResources(old, HeapSymbols(old, symbolizer)),
      let after = HeapResources(new, HeapSymbols(new, symbolizer))
    else { return [] }
    func name(_ row: HeapReport.DescriptorRow) -> String {
      "\(row.kind) of \(row.holder ?? "nobody")"
    }
    func name(_ row: HeapReport.ThreadRow) -> String {
      "\(row.name)\(row.backtrace.site.map { " in \($0.symbol)" } ?? "")"
    }
    let files = grown("descriptor", before.descriptors(), after.descriptors(), name) { growth, row in
      (growth.example, growth.retainPath, growth.allocation) = (row.target, row.retainPath, row.allocation)
    }
    let threads = grown("thread", before.threads(), after.threads(), name) { $0.allocation = $1.backtrace }
    return files + threads
  }

  private static func grown<Row>(
    _ kind: String, _ before: [Row], _ after: [Row], _ name: (Row) -> String, _ add: (inout ResourceGrowth, Row) -> Void
  ) -> [ResourceGrowth] {
    let old = Dictionary(grouping: before, by: name)
    let grown = Dictionary(grouping: after, by: name).filter { $0.value.count > old[$0.key]?.count ?? 0 }
    return grown.map { key, rows in
      var growth = ResourceGrowth(
        kind: kind, name: key, before: old[key]?.count ?? 0, after: rows.count, example: "", retainPath: [],
        allocation: LeakReport.Backtrace())
      add(&growth, rows[rows.count - 1])
      return growth
    }
    .sorted { ($1.after - $1.before, $0.name) < ($0.after - $0.before, $1.name) }
  }

  /// Findings of the new heap that the old one did not have, or that are larger by a quarter; not which collection is the largest, as
  /// what grew says that.
  static func findings(from old: LoadedHeap, to new: LoadedHeap, _ symbolizer: Symbolizer?) -> [HeapFinding] {
    struct Key: Hashable {
      var kind: HeapFinding.Kind
      var type: String
      var container: HeapFinding.Container?
    }
    func key(_ finding: HeapFinding) -> Key {
      Key(kind: finding.kind, type: finding.type, container: finding.container)
    }
    var known: [Key: Int] = [:]
    for finding in HeapFinding.findings(in: old, HeapSymbols(old, symbolizer)) {
      known[key(finding), default: 0] += max(finding.bytes, finding.objects)
    }
    return HeapFinding.findings(in: new, HeapSymbols(new, symbolizer)).filter {
      let before = known[key($0)] ?? 0
      return $0.kind != .dominatingContainer && max($0.bytes, $0.objects) > before + before / 4
    }
  }
}

extension ResourcesText {
  static func lines(_ growth: [HeapDiff.ResourceGrowth], limit: Int) -> [TextLine] {
    guard !growth.isEmpty else { return [] }
    var lines = [PathText.heading("more descriptors and threads")]
    for one in growth.prefix(limit) {
      let change = "\(Quantity.grouped(one.before)) -> \(Quantity.grouped(one.after))"
      lines.append(
        "  +\(Quantity.grouped(one.after - one.before)) \(one.kind): \(Number.readable(one.name)) (\(change))")
      if !one.example.isEmpty { lines.append("     one of them \(one.example)") }
      if one.retainPath.first?.root != nil {
        lines.append("     kept by     \(HeapDiffText.path(one.retainPath))")
      }
    }
    return lines + [""]
  }
}
