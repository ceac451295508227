import UndeadSystem

/// The lines of a text about what one timer or task alone keeps.
enum KeptAloneText {
  private static let limit = 4

  static func lines(_ groups: [KeptAlone], _ options: ReportTextOptions) -> [TextLine] {
    guard !groups.isEmpty else { return [] }
    var lines: [TextLine] = [
      TextStyle.heading.apply("KEPT BY ONE THING ALONE, maybe on purpose: no suspects, as they have no field for it")
    ]
    for group in groups.prefix(limit) { lines += self.lines(group, options) }
    if groups.count > limit { lines.append("  and \(Quantity.of(groups.count - limit, "more group")) (--format json)") }
    return lines + [""]
  }

  private static func lines(_ group: KeptAlone, _ options: ReportTextOptions) -> [TextLine] {
    let count = group.count == 1 ? "" : "\(group.count) \u{D7} "
    let type = TextStyle.type.apply(TypeName.elided(group.type))
    let thing = SuspectWords.of(group.kind)?.alone ?? "what fires or waits"
    var by = TextLine(group.item.map { "this \($0) alone" } ?? "\(thing) alone")
    if let frame = group.suspended?.firstOwnFrame {
      by = "\(by), which waits in \(StackText.shortFunction(frame))\(StackText.place(frame, options))"
    }
    var lines: [TextLine] = ["  \(count)\(type) (\(Quantity.bytes(group.totalBytes))): kept by \(by)"]
    if let frame = group.allocation.firstOwnFrame {
      lines.append("      allocated in \(StackText.shortFunction(frame))\(StackText.place(frame, options))")
    }
    return lines
  }
}
