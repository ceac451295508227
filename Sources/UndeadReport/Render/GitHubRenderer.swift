/// Writes a report as workflow commands of GitHub Actions, which shows them beside the lines of the sources.
public enum GitHubRenderer {
  /// An error for each leak and zombie, a warning for each suspect and for an incomplete check, and the summary.
  ///
  /// - Parameters:
  ///   - options: `directory` is the root of the repository, which GitHub wants paths relative to.
  public static func render(_ report: LeakReport, options: TextOptions = TextOptions()) -> String {
    var options = options
    options.color = false
    options.stacks = false
    let findings = Findings(report, byCulprit: options.groupsByCulprit)
    var lines = commands("error", "Leak", findings.leaks, options)
    for zombie in findings.zombies.prefix(options.top) {
      let text = FindingText.lines(zombie, title: "zombie:", options)
      lines.append(command("error", title: "Zombie", place(zombie, [.used, .allocated], options), text))
    }
    if findings.zombies.count > options.top {
      lines.append(rest(Quantity.of(findings.zombies.count - options.top, "more zombie"), options))
    }
    lines += commands("warning", "Suspect", findings.suspects, options)
    if !report.summary.complete {
      lines.append(command("warning", title: "Leak check incomplete", nil, findings.notes))
    }
    lines.append(TextRenderer.summary(report))
    return lines.joined(separator: "\n") + "\n"
  }

  /// One for each culprit: GitHub shows only the first few of a step.
  private static func commands(
    _ command: String, _ kind: String, _ groups: [Findings.Group], _ options: TextOptions
  ) -> [String] {
    var lines = groups.prefix(options.top).map { group in
      let text = FindingText.lines(group, title: kind.uppercased(), options)
      let place = place(group.worst, [.allocated, .suspended], options)
      return self.command(command, title: title(kind, group), place, text)
    }
    if let rest = Findings.rest(groups, after: options.top, noun: kind.lowercased()) {
      lines.append(self.rest(rest, options))
    }
    return lines
  }

  private static func rest(_ text: String, _ options: TextOptions) -> String {
    command("notice", title: "Not all findings are shown", nil, ["... and \(text)\(options.hint)"])
  }

  private struct Place {
    var file: String
    var line: Int?
  }

  private static func title(_ kind: String, _ group: Findings.Group) -> String {
    let tests = group.culprit.tests ?? []
    return switch tests.count {
    case 0: kind
    case 1: tests[0].test.map { "\(kind) in \($0)" } ?? kind
    default: "\(kind) in \(Quantity.of(tests.count(where: { $0.test != nil }), "test"))"
    }
  }

  /// The innermost line of the repository itself that took part; other files cannot be shown.
  private static func place(_ finding: Finding, _ roles: [Site.Role], _ options: TextOptions) -> Place? {
    for frame in roles.compactMap(finding.site).flatMap(\.backtrace.frames) where !frame.system && frame.line != nil {
      guard let file = frame.file, let path = pathInRepository(file, options) else { continue }
      return Place(file: path, line: frame.line)
    }
    guard let file = finding.test?.file, let path = pathInRepository(file, options) else { return nil }
    return Place(file: path, line: finding.test?.line)
  }

  private static func pathInRepository(_ file: String, _ options: TextOptions) -> String? {
    let path = StackText.shortened(file, options)
    // What SwiftPM fetched or made is not in the repository.
    return path.hasPrefix("/") || path.split(separator: "/").contains(".build") ? nil : path
  }

  private static func command(_ name: String, title: String, _ place: Place?, _ text: [String]) -> String {
    var properties: [String] = []
    if let place {
      properties.append("file=\(property(place.file))")
      if let line = place.line { properties.append("line=\(line)") }
    }
    properties.append("title=\(property(title))")
    let message = text.reversed().drop(while: \.isEmpty).reversed().joined(separator: "\n")
    return "::\(name) \(properties.joined(separator: ","))::\(data(message))"
  }

  /// The escapes of GitHub's toolkit, `@actions/core`.
  private static func data(_ text: String) -> String {
    text.replacing("%", with: "%25").replacing("\r", with: "%0D").replacing("\n", with: "%0A")
  }

  private static func property(_ text: String) -> String {
    data(text).replacing(":", with: "%3A").replacing(",", with: "%2C")
  }
}
