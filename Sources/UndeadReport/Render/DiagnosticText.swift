import UndeadSystem

/// Diagnostics as text: what happened, names and figures, and where.
enum DiagnosticText {
  /// Of one kind; more of the same tell nothing new, and the JSON report has them all.
  private static let limit = 5

  static func lines(_ diagnostics: [Diagnostic], _ options: ReportTextOptions) -> [TextLine] {
    var lines: [TextLine] = []
    for kind in kinds(diagnostics) {
      let same = diagnostics.filter { $0.kind == kind }
      for diagnostic in same.prefix(limit) { lines += block(diagnostic, options) }
      guard same.count > limit else { continue }
      lines.append("  ... \(same.count - limit) more of kind \(kind)")
      lines.append("")
    }
    return lines
  }

  /// In the order in which they first occur.
  private static func kinds(_ diagnostics: [Diagnostic]) -> [String] {
    var seen = Set<String>()
    return diagnostics.map(\.kind).filter { seen.insert($0).inserted }
  }

  private static func block(_ diagnostic: Diagnostic, _ options: ReportTextOptions) -> [TextLine] {
    var lines: [TextLine] = [
      TextStyle.warning.apply("DIAGNOSTIC") + "  \(diagnostic.message)  (\(diagnostic.kind))"
    ]
    let details = diagnostic.details.ordered { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
    lines += StackText.wrapped(details.joined(separator: ", "), width: 110).map { "  \($0)" }
    if let backtrace = diagnostic.backtrace { lines += StackText.lines(backtrace, role: "at ", options) }
    for trace in diagnostic.backtraces ?? [] {
      lines += StackText.lines(Backtrace(frames: trace.frames), role: "\(trace.role) ", options)
    }
    return lines + [""]
  }
}
