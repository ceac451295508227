import Foundation

/// Writes the difference of two reports.
public enum DiffRenderer {
  /// The difference as text: new groups in full, the others in a line each, the summary in the last line.
  public static func text(_ diff: ReportDiff, options: TextOptions = TextOptions()) -> String {
    var lines: [String] = []
    for (number, leak) in diff.new.enumerated() {
      lines += TextRenderer.block(leak, title: "NEW \(number + 1) of \(diff.new.count)", options: options)
    }
    for change in diff.grown {
      lines.append(
        "\(TextStyle.alarm.apply("GROWN", options))  \(line(change.leak)): \(change.oldCount) -> \(change.newCount)")
    }
    for change in diff.shrunk {
      lines.append(
        "\(TextStyle.good.apply("LESS", options))   \(line(change.leak)): \(change.oldCount) -> \(change.newCount)")
    }
    for leak in diff.gone {
      lines.append("\(TextStyle.good.apply("GONE", options))   \(line(leak)): \(leak.count) -> 0")
    }
    if !lines.isEmpty, lines.last != "" { lines.append("") }
    let counts =
      "\(diff.new.count) new, \(diff.grown.count) grown, \(diff.shrunk.count) less, \(diff.gone.count) gone, "
      + "\(diff.unchanged) unchanged"
    let style: TextStyle = diff.new.isEmpty && diff.grown.isEmpty ? .good : .alarm
    lines.append(style.apply("undead: \(counts)", options))
    return lines.joined(separator: "\n") + "\n"
  }

  /// The difference as pretty-printed JSON with sorted keys and a newline at the end.
  public static func json(_ diff: ReportDiff) throws -> Data {
    try JSONRenderer.encode(diff)
  }

  private static func line(_ leak: Leak) -> String {
    let type = leak.objects.first?.type ?? "object"
    let kind = leak.kind == .retainCycle ? "retain cycle of \(type)" : "\(leak.kind.rawValue) \(type)"
    let site = leak.allocation.firstOwnFrame.map { " from " + SymbolText.short($0.symbol) } ?? ""
    return kind + site
  }
}
