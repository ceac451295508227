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
    var lines: [String] = []
    for leak in report.leaks {
      let text = FindingText.lines(Finding(leak), title: "LEAK", options)
      let place = place(leak.test, [leak.allocation, leak.suspended], options)
      lines.append(command("error", title: title("Leak", leak.test), place, text))
    }
    for zombie in report.zombies {
      let text = FindingText.lines(Finding(zombie), title: "zombie:", options)
      lines.append(command("error", title: "Zombie", place(nil, [zombie.access, zombie.allocation], options), text))
    }
    for suspect in report.suspects {
      let text = FindingText.lines(Finding(suspect), title: "SUSPECT", options)
      let place = place(suspect.test, [suspect.allocation, suspect.suspended], options)
      lines.append(command("warning", title: title("Suspect", suspect.test), place, text))
    }
    if !report.summary.complete {
      lines.append(command("warning", title: "Leak check incomplete", nil, report.summary.notes))
    }
    lines.append(TextRenderer.summary(report))
    return lines.joined(separator: "\n") + "\n"
  }

  private struct Place {
    var file: String
    var line: Int?
  }

  private static func title(_ kind: String, _ test: TestIdentity?) -> String {
    test.map { "\(kind) in \($0.fullName)" } ?? kind
  }

  /// The innermost line of the repository itself that took part; other files cannot be shown.
  private static func place(_ test: TestIdentity?, _ stacks: [Backtrace?], _ options: TextOptions) -> Place? {
    for frame in stacks.compactMap(\.self).flatMap(\.frames) where !frame.system && frame.line != nil {
      guard let file = frame.file, let path = pathInRepository(file, options) else { continue }
      return Place(file: path, line: frame.line)
    }
    guard let file = test?.file, let path = pathInRepository(file, options) else { return nil }
    return Place(file: path, line: test?.line)
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
