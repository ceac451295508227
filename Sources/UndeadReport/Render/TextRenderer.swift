import UndeadSystem

/// Writes a report for people: one block a group, the worst first, the summary in the last line.
public struct TextRenderer {
  private let options: ReportTextOptions
  private var lines: [TextLine] = []

  private init(_ options: ReportTextOptions) {
    self.options = options
  }

  /// The report as text that ends with a newline; the same text for the same report and options.
  public static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var options = options
    options.hasNoBacktraces = report.summary.notes.contains(LeakReport.noBacktraces)
    var renderer = TextRenderer(options)
    let findings = Findings(report, byCulprit: options.groupsByCulprit)
    renderer.add(findings, of: report)
    renderer.addNotes(findings.notes)
    if let next = NextStep.text(findings, tool: options.command) { renderer.lines.append("next: \(next)") }
    if let live = renderer.live(report.summary) { renderer.lines.append(live) }
    renderer.lines.append(renderer.summary(report))
    return Wrapping.wrapped(renderer.lines, width: options.width).text(options)
  }

  /// The last line, which says how many of each finding there are.
  package static func summary(_ report: LeakReport) -> String {
    TextRenderer(ReportTextOptions()).summary(report).plain
  }

  private mutating func add(_ findings: Findings, of report: LeakReport) {
    lines += Self.lines(findings.leaks, .leak, options)
    lines += Self.lines(zombies: findings.zombies, title: "zombie:", options)
    lines += Self.lines(findings.suspects, .suspect, options)
    lines += KeptAloneText.lines(report.keptAlone, options)
    lines += DiagnosticText.lines(report.diagnostics, options)
    if let runLoops = report.runLoops { lines += RunLoopText.lines(runLoops) }
    addKnown(findings.knownLeaks)
    lines += RefutedText.lines(report.refutedLeaks, options)
  }

  /// What the groups of a list are called.
  package struct Name {
    var one: String
    var many: String
    var noun: String

    package init(one: String, many: String, noun: String) {
      (self.one, self.many, self.noun) = (one, many, noun)
    }

    static let leak = Name(one: "LEAK", many: "LEAKS", noun: "leak")
    static let suspect = Name(one: "SUSPECT", many: "SUSPECTS", noun: "suspect")
  }

  /// The blocks of the worst groups, and a line for the rest.
  package static func lines(_ groups: [Findings.Group], _ name: Name, _ options: ReportTextOptions) -> [TextLine] {
    let total = groups.reduce(0) { $0 + $1.findings.count }
    var lines: [TextLine] = []
    var number = 1
    for group in groups.prefix(max(0, options.top)) {
      let last = number + group.findings.count - 1
      let numbers = last == number ? "\(name.one) \(number)" : "\(name.many) \(number)-\(last)"
      let title: TextLine = "\(numbers) of \(total)"
      lines += FindingText.lines(group, title: title, options)
      number = last + 1
    }
    if let rest = Findings.rest(groups, after: options.top, noun: name.noun) {
      lines += ["... and \(rest)\(options.hint)", ""]
    }
    return lines
  }

  /// The blocks of the first uses of dead objects, and a line for the rest.
  /// Uses of dead objects alone, with what the reader must know of them, and a last line with their number.
  package static func render(_ findings: ZombieFindings, options: ReportTextOptions = ReportTextOptions()) -> String {
    var text = lines(zombies: findings.zombies.map { Finding($0) }, title: "zombie:", options)
    for note in findings.notes { text.append("note: \(note)") }
    if !findings.notes.isEmpty { text.append("") }
    let count = findings.zombies.isEmpty ? "no zombies" : Quantity.of(findings.zombies.count, "zombie")
    return (text + ["undead: \(count)"]).text(options)
  }

  package static func lines(zombies: [Finding], title: TextLine, _ options: ReportTextOptions) -> [TextLine] {
    let shown = zombies.prefix(max(0, options.top))
    let lines = shown.flatMap { FindingText.lines($0, title: title, options) }
    guard shown.count < zombies.count else { return lines }
    return lines + ["... and \(Quantity.of(zombies.count - shown.count, "more zombie"))\(options.hint)", ""]
  }

  private static let knownTypeLimit = 3

  /// A line for each reason.
  private mutating func addKnown(_ leaks: [Finding]) {
    guard !leaks.isEmpty else { return }
    lines.append(TextStyle.heading.apply("KNOWN LEAKS of the toolchain, which the program cannot help"))
    var reasons: [String] = []
    for leak in leaks where !reasons.contains(leak.reason ?? "") { reasons.append(leak.reason ?? "") }
    for reason in reasons {
      let same = leaks.filter { ($0.reason ?? "") == reason }
      var texts = same.prefix(Self.knownTypeLimit).map { leak in
        "\(leak.count) \u{D7} \(leak.objects.first?.type ?? "object") (\(Quantity.bytes(leak.totalBytes ?? 0)))"
      }
      let rest = same.dropFirst(Self.knownTypeLimit)
      if !rest.isEmpty { texts.append("\(Quantity.of(rest.count, "more group"))") }
      lines.append("  \(texts.joined(separator: ", ")): \(reason)")
    }
    lines.append("")
  }

  private mutating func addNotes(_ notes: [String]) {
    let areFirst = lines.isEmpty
    lines += notes.map { "note: \($0)" as TextLine }
    if !notes.isEmpty, !areFirst { lines.append("") }
  }

  /// How much there was to look at; nil if that is not known.
  private func live(_ summary: LeakReport.Summary) -> TextLine? {
    guard summary.liveBlocks > 0 else { return nil }
    return "live: \(Quantity.of(summary.liveBlocks, "block")), \(Quantity.bytes(summary.liveBytes))"
  }

  private func summary(_ report: LeakReport) -> TextLine {
    let summary = report.summary
    var parts: [String] = []
    if summary.leaks == 0, summary.notes.contains(where: { $0.hasPrefix(LeakReport.onlySample) }) {
      parts.append("leaks were not looked for")
    } else if summary.leaks == 0, summary.complete, summary.hasMemoryWithoutPlace {
      parts.append("no leaked objects; memory is lost, as noted")
    } else if summary.leaks == 0 {
      parts.append(summary.complete ? "no leaks" : "not known whether anything leaked: the check is incomplete")
    } else {
      let size = Quantity.size(objects: summary.leakedObjects, bytes: summary.leakedBytes) ?? ""
      parts.append("\(Quantity.of(summary.leaks, "leak")) (\(size))")
    }
    if summary.zombies > 0 { parts.append(Quantity.of(summary.zombies, "zombie")) }
    if summary.suspects > 0 { parts.append(Quantity.of(summary.suspects, "suspect")) }
    if !report.knownLeaks.isEmpty { parts.append("\(report.knownLeaks.count) known") }
    if summary.suppressed > 0 { parts.append("\(summary.suppressed) suppressed") }
    if summary.diagnostics > 0 { parts.append(Quantity.of(summary.diagnostics, "diagnostic")) }
    if summary.leaks > 0, !summary.complete { parts.append("check incomplete") }
    let isClean = summary.leaks == 0 && summary.zombies == 0 && summary.complete && !summary.hasMemoryWithoutPlace
    let style: TextStyle = isClean ? .good : summary.leaks > 0 || summary.zombies > 0 ? .alarm : .warning
    return style.apply("undead: \(parts.joined(separator: ", "))")
  }
}
