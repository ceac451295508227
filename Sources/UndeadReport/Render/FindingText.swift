import UndeadSystem

/// The block of one finding in a text: what happened, drawn references, places, advice, stacks.
package struct FindingText {
  private let options: ReportTextOptions
  private var lines: [TextLine] = []

  private init(_ options: ReportTextOptions) {
    self.options = options
  }

  /// - Parameter title: what stands before the heading, "LEAK 1 of 3" or "zombie:".
  package static func lines(_ finding: Finding, title: TextLine, _ options: ReportTextOptions) -> [TextLine] {
    var text = FindingText(options)
    if finding.kind == .zombie { text.addZombie(finding, title: title) } else { text.add(finding, title: title) }
    return text.lines
  }

  /// The lines of references alone.
  package static func lines(_ chain: Chain, _ options: ReportTextOptions) -> [TextLine] {
    var text = FindingText(options)
    text.add(chain)
    return text.lines
  }

  /// The block of all that one thing is to blame for: the worst of it in full.
  ///
  /// - Parameter title: what stands before the heading: "LEAKS 1-3 of 7".
  package static func lines(_ group: Findings.Group, title: TextLine, _ options: ReportTextOptions) -> [TextLine] {
    var text = FindingText(options)
    text.add(group.worst, of: group, title: title)
    return text.lines
  }

  /// One of many findings of a culprit, of which another one is shown in full.
  ///
  /// - Parameter first: where that is.
  package static func lines(_ finding: Finding, like first: String, title: TextLine, _ options: ReportTextOptions)
    -> [TextLine]
  {
    var text = FindingText(options)
    text.addHeading(title, finding.kind == .leak ? .alarm : .warning, finding.heading, finding.size)
    for site in finding.sites where site.role != .scope { text.addSite(site, withCallers: false) }
    if let culprit = finding.culprit { text.addRow("culprit", "\(culprit.title), as in \(first)") }
    return text.lines + [""]
  }

  /// - Parameter group: what it is the worst of; nil if only the finding itself is shown.
  private mutating func add(_ finding: Finding, of group: Findings.Group? = nil, title: TextLine) {
    let style: TextStyle = finding.kind == .leak ? .alarm : .warning
    if let group, group.findings.count > 1 {
      addHeading(title, style, group.heading, group.size)
      lines.append("")
      let size = finding.size.map { "  (\($0))" } ?? ""
      lines.append("  the worst of \(group.findings.count) groups: \(TypeName.elided(finding.heading))\(size)")
    } else {
      addHeading(title, style, finding.heading, finding.size)
    }
    lines.append("")
    for (number, chain) in finding.chains.enumerated() {
      if number > 0, chain.role == .innerCycle { lines.append("") }
      add(chain)
    }
    if !finding.chains.isEmpty { lines.append("") }
    for site in finding.sites where site.frame != nil || !options.hasNoBacktraces { addSite(site) }
    if let text = finding.referenceText { addRow("references", TextLine(TypeName.elided(text))) }
    addAlsoLeaked(finding.alsoLeaked)
    if options.explains, let certainty = finding.certainty { addRow("certain", TextLine(certainty)) }
    if let group { addRest(of: group) }
    addAdvice(finding.advice)
    if let allocation = finding.site(.allocated) { addStack(allocation.backtrace, title: "stack of the allocation:") }
    lines.append("")
  }

  private mutating func addZombie(_ zombie: Finding, title: TextLine) {
    addHeading(title, .alarm, zombie.heading, nil)
    if let details = zombie.details {
      lines += StackText.wrapped(details, width: sentenceWidth).map { "  \($0)" as TextLine }
    }
    for site in zombie.sites {
      lines.append("")
      addSite(site)
      addStack(site.backtrace)
    }
    if zombie.advice != nil { lines.append("") }
    addAdvice(zombie.advice)
    lines.append("")
  }

  private mutating func addHeading(_ title: TextLine, _ style: TextStyle, _ heading: String, _ size: String?) {
    let gap = title.plain.hasSuffix(":") ? " " : "  "
    let end = size.map { "  (\($0))" } ?? ""
    lines.append("\(style.apply(title))\(gap)\(TextStyle.heading.apply(TypeName.elided(heading)))\(end)")
  }

  // MARK: References

  private static let chainLimit = 12

  /// Draws references: the first type, then for each field the type that it leads to.
  private mutating func add(_ chain: Chain) {
    if let introduction = chain.introduction {
      lines.append("\(chain.role == .innerCycle ? "  " : "    ")\(introduction)")
    }
    if let root = chain.root { add(root) }
    if let start = chain.start { lines.append("    \(TextStyle.type.apply(TypeName.elided(start)))") }
    let links = chain.links
    let shown = Self.chainLimit / 2
    for (number, link) in links.enumerated() {
      if links.count > Self.chainLimit, number >= shown, number < links.count - shown {
        if number == shown {
          lines.append("      ... \(chain.omitted.plus(links.count - 2 * shown)) more references ...")
        }
        continue
      }
      add(link, closing: chain.isClosed && number == links.count - 1)
    }
  }

  private mutating func add(_ root: Chain.Root) {
    guard root.kind != "runLoop", root.kind != "task" else { return lines.append("    \(root.text)") }
    let kind = TextStyle.faint.apply("[\(root.kindText)]")
    lines.append("    \(kind)\(root.text.isEmpty ? "" : " ")\(root.text)\(root.owners)")
  }

  private mutating func add(_ link: Chain.Link, closing: Bool) {
    let field = TextStyle.field.apply(link.fieldText)
    let target = TextStyle.type.apply(TypeName.elided(link.to) + (closing ? "  \u{21BA}" : ""))
    let end = link.holdsClosure ? StackText.closure(link.closure, options) : target
    lines.append("      \(field) \u{2192} \(end)")
    if link.isCulprit { addMark(below: link.fieldText) }
    guard link.holdsClosure else { return }
    let captures: TextLine = link.captures.map { " \(TextStyle.field.apply($0))" } ?? ""
    lines.append("          captures\(captures) \u{2192} \(target)")
  }

  /// Underlines the reference to change, as compilers do: it shows in files, too.
  private mutating func addMark(below field: String) {
    let mark = TextStyle.culprit.apply(String(repeating: "^", count: TextLine(field).width))
    lines.append(("      \(mark)" as TextLine).marking())
  }

  // MARK: Places

  private mutating func addSite(_ site: Site, withCallers: Bool = true) {
    var words =
      site.text.map { text in
        [site.frame == nil && site.role != .scope ? TextStyle.faint.apply(text) : TextLine(text)]
      } ?? []
    if let frame = site.frame {
      let preposition = site.role == .suspended ? "" : "in "
      words.append("\(preposition)\(StackText.shortFunction(frame))\(StackText.place(frame, options))")
    }
    let thread = site.thread.map { ", thread \($0)" } ?? ""
    addRow(TextLine(site.role.label), "\(words.joined(separator: " "))\(thread)")
    if let called = site.called { addRow("", "by \(StackText.called(called))") }
    guard withCallers else { return }
    for caller in site.otherCallers {
      addRow("", "also from \(StackText.shortFunction(caller))\(StackText.place(caller, options))")
    }
    if site.hiddenCallers > 0 { addRow("", "and on \(Quantity.of(site.hiddenCallers, "other way"))") }
  }

  private static let typeLimit = 4

  private func isForeign(_ type: TypeCount) -> Bool {
    type.package != nil || ToolchainModules.declare(type.type) || TypeName.isOfRuntime(type.type)
  }

  private mutating func addAlsoLeaked(_ types: [TypeCount]) {
    guard !types.isEmpty else { return }
    // What the program declares says more than what libraries and the runtime make of it.
    let types = types.filter { !isForeign($0) } + types.filter(isForeign)
    var texts = types.prefix(Self.typeLimit).map { type in
      "\(type.count) \u{D7} \(TypeName.elided(type.type)) (\(Quantity.bytes(type.bytes)))"
    }
    if types.count > Self.typeLimit { texts.append("\(Quantity.of(types.count - Self.typeLimit, "more type"))") }
    addRow("with it", "\(texts.joined(separator: ", "))")
  }

  // MARK: What has the same culprit

  private static let listLimit = 3

  private mutating func addRest(of group: Findings.Group) {
    if group.findings.count > 1 {
      addRow("culprit", TextLine(TypeName.elided(group.culprit.title)))
      var seen: Set = [group.worst.title]
      addList("likewise", group.findings.map(\.title).filter { seen.insert($0).inserted })
    }
    guard let tests = group.culprit.tests else { return }
    if tests.count == 1, let test = group.worst.test {
      var place: TextLine = ""
      if let file = test.file { place = " at \(StackText.location(file, test.line, options))" }
      addRow("test", "\(test.fullName)\(place)")
    } else {
      addList("tests", tests.map { ($0.test ?? "no test") + ($0.count == 1 ? "" : ", \($0.count) times") })
    }
  }

  /// A row for each of the first texts.
  private mutating func addList(_ label: TextLine, _ texts: [String]) {
    for (number, text) in texts.prefix(Self.listLimit).enumerated() {
      addRow(number == 0 ? label : "", TextLine(TypeName.elided(text)))
    }
    if texts.count > Self.listLimit { addRow("", "and \(texts.count - Self.listLimit) more") }
  }

  /// Sentences are no longer than can be read at a glance.
  private var sentenceWidth: Int { min(100, max(20, (options.width ?? 120) - 13)) }

  private mutating func addAdvice(_ advice: String?) {
    guard let advice else { return }
    let rows = StackText.wrapped(TypeName.elided(advice), width: sentenceWidth)
    addRow("advice", TextLine(rows.first ?? ""), .good)
    for row in rows.dropFirst() { addRow("", TextLine(row)) }
  }

  private mutating func addRow(_ label: TextLine, _ text: TextLine, _ style: TextStyle? = nil) {
    lines.append("  \((style?.apply(label) ?? label).padded(11))\(text)")
  }

  /// - Parameter title: what sets the stack off from what is above it; nil where the row above says what it is of.
  private mutating func addStack(_ backtrace: Backtrace, title: TextLine? = nil) {
    guard options.stacks else { return }
    let stack = StackText.lines(backtrace, options)
    // A stack of one frame was shown already.
    guard stack.count > 1 else { return }
    if let title { lines += ["", "  \(TextStyle.faint.apply(title))"] }
    lines += stack
  }
}
