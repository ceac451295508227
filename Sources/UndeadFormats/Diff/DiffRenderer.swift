import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes the difference of two reports.
package enum DiffRenderer {
  /// The difference as text: new groups in full, the others in a line each, the summary in the last line.
  ///
  /// - Parameters:
  ///   - diff: what is shown.
  ///   - options: how the text looks.
  ///   - start: what the summary says before the leaks.
  package static func text(_ diff: ReportDiff, options: ReportTextOptions = ReportTextOptions(), start: String = "")
    -> String
  {
    var lines: [TextLine] = []
    let new = Findings.groups(leaks: diff.new, byCulprit: options.groupsByCulprit)
    lines += TextRenderer.lines(new, .init(one: "NEW", many: "NEW", noun: "leak"), options)
    lines += TextRenderer.lines(zombies: diff.zombies.new.map { Finding($0) }, title: "NEW zombie:", options)
    let suspects = Findings.groups(suspects: diff.suspects.new, byCulprit: options.groupsByCulprit)
    lines += TextRenderer.lines(suspects, .init(one: "NEW SUSPECT", many: "NEW SUSPECTS", noun: "suspect"), options)
    for change in diff.grown { lines.append(grown(line(change.leak), change.oldCount, change.newCount)) }
    for change in diff.shrunk { lines.append(shrunk(line(change.leak), change.oldCount, change.newCount)) }
    for leak in diff.gone { lines.append(gone(line(leak), leak.count)) }
    lines += changes(diff.zombies, line: { "zombie: \($0.message)" }, count: \.count)
    lines += changes(diff.suspects, line: line, count: \.count)
    for leak in diff.knownLeaks.new {
      lines.append(TextStyle.warning.apply("NEW") + "    known \(line(leak)): 0 -> \(leak.count)")
    }
    lines += changes(diff.knownLeaks, line: { "known \(line($0))" }, count: \.count)
    if !lines.isEmpty, lines.last != "" { lines.append("") }
    lines += diff.notes.map { "note: \($0)" as TextLine }
    if !diff.notes.isEmpty { lines.append("") }
    lines.append(summary(diff, start))
    return Wrapping.wrapped(lines, width: options.width).text(options)
  }

  /// The difference as pretty-printed JSON with sorted keys and a newline at the end.
  package static func json(_ diff: ReportDiff) throws -> Data {
    try JSONRenderer.encode(diff)
  }

  // MARK: Lines

  private static func grown(_ line: String, _ old: Int, _ new: Int) -> TextLine {
    "\(TextStyle.alarm.apply("GROWN"))  \(line): \(old) -> \(new)"
  }

  private static func shrunk(_ line: String, _ old: Int, _ new: Int) -> TextLine {
    "\(TextStyle.good.apply("LESS"))   \(line): \(old) -> \(new)"
  }

  private static func gone(_ line: String, _ old: Int) -> TextLine {
    "\(TextStyle.good.apply("GONE"))   \(line): \(old) -> 0"
  }

  /// What is not new, in a line each.
  private static func changes<Finding>(
    _ findings: ReportDiff.Findings<Finding>, line: (Finding) -> String, count: (Finding) -> Int
  ) -> [TextLine] {
    findings.grown.map { grown(line($0.finding), $0.oldCount, $0.newCount) }
      + findings.shrunk.map { shrunk(line($0.finding), $0.oldCount, $0.newCount) }
      + findings.gone.map { gone(line($0), count($0)) }
  }

  private static func summary(_ diff: ReportDiff, _ start: String) -> TextLine {
    var parts = [
      "\(diff.new.count) new", "\(diff.grown.count) grown", "\(diff.shrunk.count) less", "\(diff.gone.count) gone",
      "\(diff.unchanged) unchanged",
    ]
    if let zombies = counts(diff.zombies) { parts.append("zombies: \(zombies)") }
    if let suspects = counts(diff.suspects) { parts.append("suspects: \(suspects)") }
    if !diff.complete { parts.append("check incomplete") }
    let isWorse = !diff.new.isEmpty || !diff.grown.isEmpty || diff.zombies.isWorse
    let style: TextStyle = isWorse ? .alarm : diff.complete && !diff.suspects.isWorse ? .good : .warning
    return style.apply("undead: \(start)\(parts.joined(separator: ", "))")
  }

  /// What changed, in a few words; nil if nothing did.
  private static func counts<Finding>(_ findings: ReportDiff.Findings<Finding>) -> String? {
    let counts = [
      (findings.new.count, "new"), (findings.grown.count, "grown"), (findings.shrunk.count, "less"),
      (findings.gone.count, "gone"),
    ]
    let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
    return words.isEmpty ? nil : words.joined(separator: " ")
  }

  private static func line(_ leak: Leak) -> String {
    Finding(leak).title + site(leak.allocation)
  }

  private static func line(_ suspect: Suspect) -> String {
    "suspect \(Finding(suspect).title)" + site(suspect.allocation)
  }

  private static func site(_ allocation: Backtrace) -> String {
    allocation.firstOwnFrame.map { " from " + SymbolText.short($0.symbol) } ?? ""
  }
}
