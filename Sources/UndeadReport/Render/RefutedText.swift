import UndeadSystem

/// Leaks that turned out to be none, as text: why each was called a leak, and what became of it.
enum RefutedText {
  private static let limit = 5

  static func lines(_ refuted: [RefutedLeak], _ options: ReportTextOptions) -> [TextLine] {
    let shown = refuted.filter { !$0.isRevived && $0.kind != .named }
    var lines = shown.prefix(limit).flatMap { block($0, options) }
    let rest = shown.count - limit
    if rest > 0 { lines += ["... and \(Quantity.of(rest, "more refuted leak"))", ""] as [TextLine] }
    return lines
  }

  private static func block(_ leak: RefutedLeak, _ options: ReportTextOptions) -> [TextLine] {
    let title = TextStyle.warning.apply("REFUTED LEAK")
    var lines: [TextLine] = ["\(title)  \(leak.type)  (\(Quantity.bytes(leak.size)))"]
    lines.append("  check \(leak.calledByCheck) called it a leak: \(Certainty.text(leak.certainty))")
    lines.append("  \(what(leak))\(leak.path.map { ": " + $0 } ?? "")")
    if let end = leak.end { lines += StackText.lines(end, role: "freed  in", options) }
    lines += StackText.lines(leak.allocation, role: "allocated  in", options)
    return lines + [""]
  }

  private static func what(_ leak: RefutedLeak) -> String {
    switch leak.kind {
    case .freed: "the program freed it before check \(leak.refutedByCheck)"
    case .gone: "it was freed or resized before check \(leak.refutedByCheck)"
    case .reached: "check \(leak.refutedByCheck) reached it"
    case .counted: "it was retained or released before check \(leak.refutedByCheck)"
    default: "\(leak.kind.rawValue) before check \(leak.refutedByCheck)"
    }
  }
}
