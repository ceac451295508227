import UndeadReport

/// Writes a report as workflow commands of GitHub Actions, which shows them beside the lines of the sources.
package enum GitHubRenderer {
  /// Of each kind GitHub shows no more of a step.
  private static let limit = 10

  /// An error for each culprit of leaks and each zombie, a warning for each suspect, the most important first, and the
  /// summary: at most ten commands, the last of which say how many more findings there are and that the check is not
  /// complete.
  ///
  /// - Parameters:
  ///   - report: what is shown.
  ///   - options: `directory` is the root of the repository, which GitHub wants paths relative to.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var options = options
    options.color = false
    options.stacks = false
    let findings = RankedFinding.all(of: report, options)
    let shown = findings.prefix(room(for: findings.count, isComplete: report.summary.complete, top: options.top))
    var lines = shown.map(command)
    if let rest = RankedFinding.rest(findings.dropFirst(shown.count)) {
      let hint = ": a report in another form has them all (--report FORMAT=FILE)"
      lines.append(command("notice", title: "Not all findings are shown", nil, [Markup("... and \(rest)\(hint)")]))
    }
    if !report.summary.complete {
      lines.append(
        command(
          "warning", title: "Leak check incomplete", nil, NoteFolding.folded(report.summary.notes).map { Markup($0) }))
    }
    lines.append(TextRenderer.summary(report))
    return lines.joined(separator: "\n") + "\n"
  }

  /// How many findings are shown, with room for the commands after them.
  private static func room(for count: Int, isComplete: Bool, top: Int) -> Int {
    let room = isComplete ? limit : limit - 1
    return min(max(0, top), count <= room ? room : room - 1)
  }

  private static func command(_ finding: RankedFinding) -> String {
    let name: StaticString = finding.kind == "suspect" ? "warning" : "error"
    let title = finding.kind.prefix(1).uppercased() + finding.kind.dropFirst()
    return command(
      name, title: title + (finding.tests.map { " in \($0)" } ?? ""), finding.place, finding.lines.map { "\($0)" })
  }

  private static func command(
    _ name: StaticString, title: String, _ place: RepositoryPlace?, _ text: [Markup<CommandData>]
  ) -> String {
    var properties: [Markup<CommandProperty>] = []
    if let place {
      properties.append("file=\(place.file)")
      if let line = place.line { properties.append("line=\(line)") }
    }
    properties.append("title=\(title)")
    let message = text.reversed().drop { $0.source.isEmpty }.reversed().joined(separator: "%0A")
    return "::\(name) \(properties.joined(separator: ",").source)::\(message.source)"
  }
}

/// The message of a workflow command, with the escapes of GitHub's toolkit, `@actions/core`.
private enum CommandData: MarkupLanguage {
  static func escaped(_ text: String) -> String {
    ScalarEscapes.applied(to: text) { $0 == "%" ? "%25" : nil }
  }
}

/// The value of a property of a workflow command.
private enum CommandProperty: MarkupLanguage {
  static func escaped(_ text: String) -> String {
    ScalarEscapes.applied(to: text) { ["%": "%25", ":": "%3A", ",": "%2C"][$0] }
  }
}
