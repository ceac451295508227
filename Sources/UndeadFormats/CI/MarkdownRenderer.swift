import UndeadReport

/// Writes a report as a short summary in Markdown: a table of what was found, the most important first, and the first few
/// findings in full, folded.
package enum MarkdownRenderer {
  /// How many findings are shown in full.
  private static let fullLimit = 3

  /// The summary.
  ///
  /// - Parameters:
  ///   - report: what was found.
  ///   - options: `directory` is the root of the repository.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var options = options
    options.color = false
    options.stacks = false
    let findings = RankedFinding.all(of: report, options)
    var lines: [Markup<MarkdownText>] = ["## \(heading(report))"]
    if !report.summary.complete {
      lines += ["", "**The check is incomplete:** what is not listed may have leaked, too."]
    }
    let shown = findings.prefix(max(0, options.top))
    if !shown.isEmpty {
      lines += ["", "| | what | where | size |", "|---|---|---|---|"]
      for finding in shown {
        let cells = [finding.kind, finding.heading, place(finding), finding.size]
        lines.append("| \(cells.map(MarkdownText.cell).joined(separator: " | ")) |")
      }
    }
    if let rest = RankedFinding.rest(findings.dropFirst(shown.count)) {
      lines += ["", "... and \(rest)\(options.hint)"]
    }
    for finding in shown.prefix(fullLimit) { lines += [""] + details(finding) }
    let notes = NoteFolding.folded(report.summary.notes)
    if !notes.isEmpty { lines += [""] + notes.map { "- \($0)" } }
    return lines.map(\.source).joined(separator: "\n") + "\n"
  }

  /// "Undead: Demo: 1 leak (3 objects, 96 bytes), 1 suspect".
  private static func heading(_ report: LeakReport) -> String {
    let program = SymbolText.fileName(report.process.path)
    return "Undead: " + (program.isEmpty ? "" : "\(program): ")
      + TextRenderer.summary(report).replacing("undead: ", with: "", maxReplacements: 1)
  }

  private static func place(_ finding: RankedFinding) -> String {
    guard let place = finding.place else { return finding.function ?? "" }
    return place.file + (place.line.map { ":\($0)" } ?? "")
  }

  private static func details(_ finding: RankedFinding) -> [Markup<MarkdownText>] {
    // Inside of a tag nothing is Markdown.
    let heading = Markup<XMLText>(MarkdownText.cut(finding.heading)).source
    return [
      Markup(verbatim: "<details><summary>\(finding.kind): <code>\(heading)</code></summary>"), "",
      MarkdownText.block(finding.lines.reversed().drop(while: \.isEmpty).reversed()), "", "</details>",
    ]
  }
}
