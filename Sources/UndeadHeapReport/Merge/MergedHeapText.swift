import UndeadHeap
import UndeadReport
import UndeadSystem

/// Writes merged heaps for people: a line for each type.
package enum MergedHeapText {
  /// The text ends with a newline; the same text for the same heaps and options.
  ///
  /// - Parameters:
  ///   - merged: the heaps of many hosts as one.
  ///   - rows: so many types are shown.
  ///   - options: how the text looks.
  package static func render(_ merged: MergedHeap, rows: Int = 20, options: ReportTextOptions = ReportTextOptions())
    -> String
  {
    let files = merged.hosts.reduce(0) { $0 + $1.files.count }
    let hosts = merged.hosts.count
    var heading = "\(Quantity.of(hosts, "host"))"
    if files != hosts { heading += ", \(Quantity.of(files, "file"))" }
    heading += ": \(Quantity.grouped(merged.summary.objects.total)) objects" + resident(merged.summary, hosts: hosts)
    var lines: [TextLine] = [
      TextStyle.heading.apply(heading), "",
      "    retained       count   hosts        min     median        max  type",
    ]
    for row in merged.types.prefix(rows) {
      let numbers = [
        Quantity.right(Quantity.bytes(row.retainedBytes.total), 12),
        Quantity.right(Quantity.grouped(row.count.total), 12),
        Quantity.right("\(row.hosts)/\(hosts)", 8), Quantity.right(Quantity.grouped(row.count.min), 11),
        Quantity.right(Quantity.grouped(row.count.median), 11), Quantity.right(Quantity.grouped(row.count.max), 11),
      ]
      let module = row.module.map { " (\($0))" } ?? ""
      lines.append("\(numbers.joined())  \(TextStyle.type.apply(Number.readable(row.type)))\(module)")
    }
    if merged.types.count > rows { lines.append("  ... \(merged.types.count - rows) more (--top)") }
    if !merged.summary.notes.isEmpty { lines.append("") }
    for note in merged.summary.notes { lines.append("note: \(note)") }
    return lines.text(options)
  }

  /// Nothing where no host shows it.
  private static func resident(_ summary: MergedHeap.Summary, hosts: Int) -> String {
    let (values, known) = (summary.residentBytes, summary.residentHosts)
    guard known > 0 else { return "" }
    var text = ", \(Quantity.bytes(values.total)) resident"
    if known < hosts { text += " on \(Quantity.of(known, "host")) where that is known" }
    if known > 1 {
      text +=
        " (\(Quantity.bytes(values.min)) to \(Quantity.bytes(values.max)), median \(Quantity.bytes(values.median)))"
    }
    return text
  }
}
