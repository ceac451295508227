import UndeadHeap
import UndeadReport
import UndeadSystem

/// The tables of ``HeapResources`` for people: rows that are alike are one.
package enum ResourcesText {
  static func lines(_ rows: [HeapReport.DescriptorRow]?, limit: Int, _ options: ReportTextOptions) -> [TextLine] {
    guard let rows else { return [unknown] }
    let groups = grouped(rows, options)
    var lines = [PathText.heading("\(Quantity.grouped(rows.count)) open descriptors"), ""]
    for group in groups.prefix(limit) {
      let first = group[0]
      let holder: TextLine =
        first.type.map {
          "\(PathText.type("\(Number.readable($0))"))\(PathText.field("\(first.suffix)"))"
        } ?? "nobody: no object is known to have the number"
      lines.append("  \(Quantity.right(Quantity.grouped(group.count), 7)) \u{D7} \(first.kind)  \(holder)")
      lines.append("            \(TextLine(targets(group)))")
      if let waits = first.waits, !waits.frames.isEmpty {
        lines.append("            waits \(HeapDiffText.site(waits, options))")
      }
      if first.retainPath.first?.root != nil {
        lines.append("            kept by \(HeapDiffText.path(first.retainPath))")
      }
      if !first.allocation.frames.isEmpty {
        lines.append("            allocated in \(HeapDiffText.site(first.allocation, options))")
      }
    }
    return lines + more(groups.count - limit)
  }

  static func lines(_ rows: [HeapReport.ThreadRow]?, limit: Int, _ options: ReportTextOptions) -> [TextLine] {
    guard let rows else { return [unknown] }
    let groups = grouped(rows) { "\($0.name)\u{0}\(place($0.backtrace, options))" }
    var lines = [PathText.heading("\(Quantity.grouped(rows.count)) threads"), ""]
    lines.append(
      PathText.faint(
        "  \(Quantity.right("retained", 10))\(Quantity.right("resident", 12))\(Quantity.right("stack", 12))  thread"
      ))
    for group in groups.prefix(limit) {
      let first = group[0]
      func sum(_ bytes: (HeapReport.ThreadRow) -> Int, _ width: Int) -> String {
        Quantity.right(Quantity.bytes(group.total(bytes)), width)
      }
      let name =
        group.count == 1 ? "\(first.id) \(first.name)" : "\(Quantity.grouped(group.count)) \u{D7} \(first.name)"
      let text = "  \(sum(\.retainedBytes, 10))\(sum(\.residentBytes, 12))\(sum(\.stackBytes, 12))  \(name)"
      lines.append("\(TextLine(text))\(place(first.backtrace, options))")
    }
    return lines + more(groups.count - limit)
  }

  private static var unknown: TextLine {
    "The file does not say which descriptors and threads there were: ask the process, as in 'undead heap PID'."
  }

  private static func more(_ count: Int) -> [TextLine] {
    (count > 0 ? [PathText.faint("  ... \(Quantity.grouped(count)) more (--top)")] : []) + [""]
  }

  private static func place(_ backtrace: LeakReport.Backtrace, _ options: ReportTextOptions) -> TextLine {
    guard let frame = backtrace.site else { return "" }
    return " in \(PathText.place(frame, options))"
  }

  /// Descriptors that objects of one type have, from one place; the largest groups first.
  package static func grouped(
    _ rows: [HeapReport.DescriptorRow], _ options: ReportTextOptions
  ) -> [[HeapReport.DescriptorRow]] {
    grouped(rows) {
      "\($0.kind)\u{0}\($0.type ?? "")\u{0}\($0.field ?? "")\u{0}\(place($0.allocation, options))"
    }
  }

  /// Numbers of the first ones, and what they are.
  package static func targets(_ group: [HeapReport.DescriptorRow]) -> String {
    group.prefix(3).map { "\($0.number): \($0.target)" }.joined(separator: "; ") + (group.count > 3 ? "; ..." : "")
  }

  /// In the order of the first of each; the largest groups first.
  private static func grouped<Row>(_ rows: [Row], by key: (Row) -> String) -> [[Row]] {
    var numbers: [String: Int] = [:]
    var groups: [[Row]] = []
    for row in rows {
      let key = key(row)
      if let number = numbers[key] {
        groups[number].append(row)
      } else {
        numbers[key] = groups.count
        groups.append([row])
      }
    }
    return groups.enumerated().sorted { ($1.element.count, $0.offset) < ($0.element.count, $1.offset) }.map(\.element)
  }
}
