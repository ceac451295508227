/// Writes a report for people: one block a group, the worst first, the summary in the last line.
public struct TextRenderer {
  private let options: TextOptions
  private var lines: [String] = []

  private init(_ options: TextOptions) {
    self.options = options
  }

  /// The report as text that ends with a newline; the same text for the same report and options.
  public static func render(_ report: LeakReport, options: TextOptions = TextOptions()) -> String {
    var renderer = TextRenderer(options)
    renderer.addFindings(report)
    renderer.addNotes(report)
    renderer.lines.append(renderer.summary(report))
    return renderer.lines.joined(separator: "\n") + "\n"
  }

  /// The last line, which says how many of each finding there are.
  static func summary(_ report: LeakReport) -> String {
    TextRenderer(TextOptions()).summary(report)
  }

  private mutating func addFindings(_ report: LeakReport) {
    let testsOfLeaks = report.leaks.map(\.test)
    for (number, leak) in report.leaks.enumerated() {
      addTest(number, of: testsOfLeaks)
      lines += FindingText.lines(Finding(leak), title: "LEAK \(number + 1) of \(report.leaks.count)", options)
    }
    for zombie in report.zombies { lines += FindingText.lines(Finding(zombie), title: "zombie:", options) }
    let testsOfSuspects = report.suspects.map(\.test)
    for (number, suspect) in report.suspects.enumerated() {
      addTest(number, of: testsOfSuspects)
      lines += FindingText.lines(
        Finding(suspect), title: "SUSPECT \(number + 1) of \(report.suspects.count)", options)
    }
    lines += DiagnosticText.lines(report.diagnostics, options)
    if let runLoops = report.runLoops { lines += RunLoopText.lines(runLoops, options) }
    addKnown(report.knownLeaks)
  }

  /// A heading before the first finding of each test; none where no test is known of any.
  private mutating func addTest(_ number: Int, of tests: [TestIdentity?]) {
    guard tests.contains(where: { $0 != nil }) else { return }
    let test = tests[number]
    if number > 0, tests[number - 1].isSameTest(as: test) { return }
    guard let test else {
      lines.append(TextStyle.heading.apply("NOT ATTRIBUTED to a test", options))
      lines.append("")
      return
    }
    let file = test.file.map { " in " + TextStyle.place.apply(StackText.shortened($0, options), options) } ?? ""
    lines.append(TextStyle.heading.apply("TEST \(test.fullName)", options) + file)
    lines.append("")
  }

  private mutating func addKnown(_ leaks: [Leak]) {
    guard !leaks.isEmpty else { return }
    lines.append(TextStyle.heading.apply("KNOWN LEAKS of the toolchain, which the program cannot help", options))
    for leak in leaks {
      let type = leak.objects.first?.type ?? "object"
      lines.append("  \(leak.count) \u{D7} \(type) (\(Quantity.bytes(leak.totalBytes))): \(leak.reason ?? "")")
    }
    lines.append("")
  }

  private mutating func addNotes(_ report: LeakReport) {
    for note in report.summary.notes { lines.append("note: \(note)") }
    if !report.summary.notes.isEmpty, lines.count > report.summary.notes.count { lines.append("") }
  }

  private func summary(_ report: LeakReport) -> String {
    let summary = report.summary
    var parts: [String] = []
    if summary.leaks == 0 {
      parts.append(summary.complete ? "no leaks" : "no leaks found, but the check is incomplete")
    } else {
      let size = "\(Quantity.of(summary.leakedObjects, "object")), \(Quantity.of(summary.leakedBytes, "byte"))"
      parts.append("\(Quantity.of(summary.leaks, "leak")) (\(size))")
    }
    if summary.zombies > 0 { parts.append(Quantity.of(summary.zombies, "zombie")) }
    parts.append(Quantity.of(summary.suspects, "suspect"))
    parts.append("\(report.knownLeaks.count) known")
    parts.append("\(summary.suppressed) suppressed")
    if summary.diagnostics > 0 { parts.append(Quantity.of(summary.diagnostics, "diagnostic")) }
    if summary.leaks > 0, !summary.complete { parts.append("check incomplete") }
    let isClean = summary.leaks == 0 && summary.zombies == 0 && summary.complete
    let style: TextStyle = isClean ? .good : summary.leaks + summary.zombies > 0 ? .alarm : .warning
    return style.apply("undead: " + parts.joined(separator: ", "), options)
  }
}
