import UndeadReport
import UndeadSystem

/// Writes merged reports for people: on how many hosts each group is, and then the report of all.
package enum MergedReportText {
  /// The text ends with a newline; the same text for the same report and options.
  package static func render(_ merged: MergedReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var lines: [TextLine] = [TextStyle.heading.apply(heading(merged)), ""]
    let rows = merged.groups.filter { $0.list != .knownLeaks }
    if !rows.isEmpty { lines += table(rows.prefix(options.top), merged) }
    if rows.count > options.top {
      lines.append("... and \(Quantity.of(rows.count - options.top, "more group"))\(options.hint)")
    }
    if !rows.isEmpty { lines.append("") }
    return lines.text(options) + TextRenderer.render(merged.report, options: options)
  }

  static func heading(_ merged: MergedReport) -> String {
    let files = merged.hosts.reduce(0) { $0 + $1.files.count }
    let hosts = Quantity.of(merged.hosts.count, "host")
    return files == merged.hosts.count ? hosts : "\(hosts), \(Quantity.of(files, "file"))"
  }

  private static func table(_ rows: some Sequence<MergedReport.Group>, _ merged: MergedReport) -> [TextLine] {
    var lines: [TextLine] = ["     total   hosts      min   median      max  group"]
    for row in rows {
      let numbers = [
        Quantity.right("\(row.count.total)", 10), Quantity.right("\(row.hosts)/\(merged.hosts.count)", 8),
        Quantity.right("\(row.count.min)", 9),
        Quantity.right("\(row.count.median)", 9), Quantity.right("\(row.count.max)", 9),
      ]
      lines.append("\(numbers.joined())  \(name(row, merged.report))\(place(row, merged))")
    }
    return lines
  }

  private static func place(_ row: MergedReport.Group, _ merged: MergedReport) -> String {
    guard row.hosts <= 3, row.hosts < merged.hosts.count else { return "" }
    return "  (\(row.hostNames.joined(separator: ", ")))"
  }

  private static func name(_ row: MergedReport.Group, _ report: LeakReport) -> TextLine {
    let (what, type) =
      switch row.list {
      case .leaks, .knownLeaks: ("leak", report.leaks.first { $0.signature == row.signature }?.objects.first?.type)
      case .suspects: ("suspect", report.suspects.first { $0.signature == row.signature }?.objects.first?.type)
      case .zombies: zombie(report.zombies.first { $0.signature == row.signature })
      }
    return "\(what) of \(TextStyle.type.apply(type ?? "object"))  [\(row.signature)]"
  }

  private static func zombie(_ zombie: Zombie?) -> (String, String?) {
    (
      "zombie" + (zombie.map { " (\($0.operation.map { "\($0) of " } ?? "")\($0.member ?? $0.kind))" } ?? ""),
      zombie?.type
    )
  }
}
