import UndeadReport

/// Writes a report as JUnit XML, which CI systems show beside the results of the tests themselves.
///
/// A test case for each test with findings, and one named after the process, which carries what belongs to no test and
/// is there without findings too: a file without test cases is an error for several CI systems.
package struct JUnitRenderer {
  /// A finding, in full or as one like another.
  private struct Shown {
    var finding: Finding
    /// The test case that shows the first finding of the culprit; nil for that one.
    var like: String?
  }

  /// What one test case shows.
  private struct Case {
    var name: String
    var suite: String
    var test: TestIdentity?
    var leaks: [Shown] = []
    var suspects: [Shown] = []
    var zombies: [Finding] = []
    var notes: [TextLine] = []
    /// Why it could not be checked.
    var error: String?

    var isFailure: Bool { !leaks.isEmpty || !zombies.isEmpty }
  }

  private let options: ReportTextOptions

  /// The report as an XML document; the same text for the same report and options.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var plain = options
    plain.color = false
    return JUnitRenderer(options: plain).document(report)
  }

  private func document(_ report: LeakReport) -> String {
    let cases = self.cases(report)
    let failures = cases.count(where: \.isFailure)
    let errors = cases.count { !$0.isFailure && $0.error != nil }
    let counts: Markup<XMLText> = "tests=\"\(cases.count)\" failures=\"\(failures)\" errors=\"\(errors)\""
    let start = report.process.startedAt.prefix { $0 != "." && $0 != "Z" }
    let timestamp: Markup<XMLText> = start.isEmpty ? "" : " timestamp=\"\(String(start))\""
    var lines: [Markup<XMLText>] = [
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>",
      "<testsuites name=\"undead\" \(counts)>",
      "  <testsuite name=\"undead\" \(counts) skipped=\"0\"\(timestamp)>",
      "    <properties>",
    ]
    let summary = report.summary
    for (name, value) in [
      ("leaks", "\(summary.leaks)"), ("leakedBytes", "\(summary.leakedBytes)"), ("suspects", "\(summary.suspects)"),
      ("knownLeaks", "\(report.knownLeaks.count)"), ("zombies", "\(summary.zombies)"),
      ("suppressed", "\(summary.suppressed)"), ("complete", "\(summary.complete)"),
    ] {
      lines.append("      <property name=\"undead.\(name)\" value=\"\(value)\"/>")
    }
    lines.append("    </properties>")
    for testCase in cases { lines += element(testCase) }
    lines += ["  </testsuite>", "</testsuites>"]
    return lines.map(\.source).joined(separator: "\n") + "\n"
  }

  // MARK: Test cases

  private func cases(_ report: LeakReport) -> [Case] {
    let program = SymbolText.fileName(report.process.path)
    var rest = Case(name: program.isEmpty ? "process" : program, suite: "undead")
    var cases: [Case] = []
    var positions: [String: Int] = [:]
    func position(of test: TestIdentity) -> Int {
      if let known = positions[test.fullName] { return known }
      positions[test.fullName] = cases.count
      cases.append(Case(name: test.name, suite: test.suite, test: test))
      return cases.count - 1
    }
    var firsts: [String: String] = [:]
    func shown(_ finding: Finding, in name: String) -> Shown {
      guard options.groupsByCulprit, let culprit = finding.culprit?.signature else { return Shown(finding: finding) }
      if let first = firsts[culprit] { return Shown(finding: finding, like: first) }
      firsts[culprit] = name
      return Shown(finding: finding)
    }
    for leak in report.leaks.map(Finding.init) {
      let shown = shown(leak, in: leak.test?.fullName ?? rest.name)
      if let test = leak.test { cases[position(of: test)].leaks.append(shown) } else { rest.leaks.append(shown) }
    }
    for suspect in report.suspects.map(Finding.init) {
      let shown = shown(suspect, in: suspect.test?.fullName ?? rest.name)
      if let test = suspect.test {
        cases[position(of: test)].suspects.append(shown)
      } else {
        rest.suspects.append(shown)
      }
    }
    rest.zombies = report.zombies.map(Finding.init)
    rest.notes =
      report.diagnostics.map { "diagnostic: \($0.message)" }
      + NoteFolding.folded(report.summary.notes).map { "note: \($0)" }
    if !report.summary.complete { rest.error = "the check is incomplete" }
    return cases + [rest]
  }

  private func element(_ testCase: Case) -> [Markup<XMLText>] {
    let file: Markup<XMLText> =
      testCase.test?.file.map { " file=\"\(StackText.shortened($0, options))\"" } ?? ""
    let line: Markup<XMLText> = testCase.test?.line.map { " line=\"\($0)\"" } ?? ""
    let start: Markup<XMLText> =
      "    <testcase classname=\"\(testCase.suite)\" name=\"\(testCase.name)\"\(file)\(line) time=\"0\""
    let children = [failure(testCase), output(testCase)].compactMap(\.self)
    return children.isEmpty ? ["\(start)/>"] : ["\(start)>"] + children + ["    </testcase>"]
  }

  /// One element for everything that failed: the schema of several readers allows no more.
  private func failure(_ testCase: Case) -> Markup<XMLText>? {
    guard testCase.isFailure else {
      return testCase.error.map { error in
        let text = XMLText.lines(testCase.notes)
        return "      <error message=\"\(error)\" type=\"incomplete\">\(text)</error>"
      }
    }
    let headings = (testCase.leaks.map(\.finding) + testCase.zombies).map(\.heading)
    let kind = testCase.leaks.first?.finding.cause ?? "zombie"
    let blocks =
      testCase.leaks.flatMap { shown($0, title: "LEAK") }
      + testCase.zombies.flatMap { FindingText.lines($0, title: "zombie:", options) }
    let heading = headings.joined(separator: "; ")
    return "      <failure message=\"\(heading)\" type=\"\(kind)\">\(XMLText.lines(blocks))</failure>"
  }

  /// Of one culprit only the first finding in full: a suite may have hundreds.
  private func shown(_ shown: Shown, title: TextLine) -> [TextLine] {
    guard let first = shown.like else { return FindingText.lines(shown.finding, title: title, options) }
    return FindingText.lines(shown.finding, like: first, title: title, options)
  }

  private func output(_ testCase: Case) -> Markup<XMLText>? {
    let suspects = testCase.suspects.flatMap { shown($0, title: "SUSPECT") }
    let lines = suspects + (testCase.error != nil && !testCase.isFailure ? [] : testCase.notes)
    guard !lines.isEmpty else { return nil }
    return "      <system-out>\(XMLText.lines(lines))</system-out>"
  }
}

/// Text inside of XML: the content of an element, or the value of an attribute in double quotes.
///
/// XML 1.0 has no way to write most control characters. As visible escapes they are text like any other.
enum XMLText: MarkupLanguage {
  static func escaped(_ text: String) -> String {
    ScalarEscapes.applied(to: text) { ["&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;"][$0] }
  }

  /// Lines, each escaped, with line breaks between them.
  static func lines(_ lines: [TextLine]) -> Markup<XMLText> {
    lines.map { "\($0)" as Markup<XMLText> }.joined(separator: "\n")
  }
}
