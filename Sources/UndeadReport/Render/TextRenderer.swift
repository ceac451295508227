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

  /// What leaked or outlives its scope, in a few words.
  static func heading(_ leak: Leak) -> String {
    TextRenderer(TextOptions()).heading(leak) + (leak.count == 1 ? "" : ", \(leak.count) times")
  }

  /// What is suspected, in a few words.
  static func heading(_ suspect: Suspect) -> String {
    subject(suspect) + " held only by \(holder(suspect.kind))" + (suspect.count == 1 ? "" : ", \(suspect.count) times")
  }

  private static func subject(_ suspect: Suspect) -> String {
    suspect.cycle.map { "retain cycle of " + cycleTypes($0) } ?? suspect.objects.first?.type ?? "object"
  }

  /// The last line, which says how many of each finding there are.
  static func summary(_ report: LeakReport) -> String {
    TextRenderer(TextOptions()).summary(report)
  }

  /// The block of one group.
  static func block(_ suspect: Suspect, title: String, options: TextOptions) -> [String] {
    var renderer = TextRenderer(options)
    renderer.addSuspect(suspect, title: title)
    return renderer.lines
  }

  /// The block of one group.
  static func block(_ leak: Leak, title: String, options: TextOptions) -> [String] {
    var renderer = TextRenderer(options)
    renderer.addLeak(leak, title: title, style: .alarm)
    return renderer.lines
  }

  private mutating func addFindings(_ report: LeakReport) {
    let testsOfLeaks = report.leaks.map(\.test)
    for (number, leak) in report.leaks.enumerated() {
      addTest(number, of: testsOfLeaks)
      addLeak(leak, title: "LEAK \(number + 1) of \(report.leaks.count)", style: .alarm)
    }
    for zombie in report.zombies { lines += ZombieText.block(zombie, options) }
    let testsOfSuspects = report.suspects.map(\.test)
    for (number, suspect) in report.suspects.enumerated() {
      addTest(number, of: testsOfSuspects)
      addSuspect(suspect, title: "SUSPECT \(number + 1) of \(report.suspects.count)")
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

  // MARK: Leaks

  private mutating func addLeak(_ leak: Leak, title: String, style: TextStyle) {
    let times = leak.count == 1 ? "" : ", \(leak.count) times"
    let size = "\(Quantity.of(leak.objectCount, "object")), \(Quantity.bytes(leak.totalBytes))"
    let heading = TextStyle.heading.apply(heading(leak) + times, options)
    lines.append(style.apply(title, options) + "  \(heading)  (\(size))")
    lines.append("")
    if let path = leak.retainPath, !path.isEmpty {
      addPath(path)
      if leak.cycle != nil, let type = path.last?.type { lines.append("    and \(type) holds what holds it:") }
    }
    if let cycle = leak.cycle {
      addReferences(cycle, end: cycle.first?.type ?? "", closing: true, omitted: leak.omittedReferences ?? 0)
    }
    if leak.cycle != nil || leak.retainPath?.isEmpty == false { lines.append("") }
    for cycle in leak.innerCycles ?? [] {
      lines.append("  it holds another cycle, which leaks also without it:")
      addReferences(cycle, end: cycle.first?.type ?? "", closing: true)
      lines.append("")
    }
    addSite(leak.allocation, suspended: leak.suspended)
    addOtherCallers(leak)
    addScope(leak.scope)
    addAlsoLeaked(leak.alsoLeaked)
    addAdvice(leak.advice)
    addStack(leak.allocation)
    lines.append("")
  }

  private func heading(_ leak: Leak) -> String {
    let type = leak.objects.first?.type ?? "object"
    return switch leak.kind {
    case .retainCycle where leak.cycle?.isEmpty ?? true: "retain cycle of \(leak.objects.first?.type ?? "objects")"
    case .retainCycle: "retain cycle of \(Self.cycleTypes(leak.cycle ?? []))"
    case .unreferenced where leak.suspended != nil: "suspended task that nobody can resume"
    case .unreferenced where type == NodeNames.rawMemory: "raw memory that nothing refers to"
    case .unreferenced: "\(type) that nothing refers to"
    case .abandoned: "\(type) outlives its scope" + (leak.scope.map { " \"\($0.name)\"" } ?? "")
    default: "\(leak.kind.rawValue) \(type)"
    }
  }

  private static func cycleTypes(_ cycle: [Reference]) -> String {
    var types: [String] = []
    for reference in cycle where !types.contains(reference.type) { types.append(reference.type) }
    switch types.count {
    case 0...2: return types.joined(separator: " and ")
    default: return "\(types[0]), \(types[1]) and \(Quantity.of(types.count - 2, "more type"))"
    }
  }

  private mutating func addPath(_ path: [PathStep]) {
    guard let first = path.first, let last = path.last else { return }
    if let root = first.root { addRoot(root, first) }
    // What a run loop holds stands in the line of the root.
    let isNamed = first.root?.kind == "runLoop" && path.count > 1
    addReferences(path.dropLast().map(\.reference), end: last.type, closing: false, showsFirst: !isNamed)
  }

  /// What names a cycle; the way from there only if it does not begin with the cycle.
  private mutating func addHolder(_ path: [PathStep], ofCycleFrom type: String) {
    guard let first = path.first, let root = first.root else { return }
    if path.count == 1 || first.type == type { addRoot(root, first) } else { addPath(path) }
  }

  private mutating func addRoot(_ root: PathStep.Root, _ first: PathStep) {
    if root.kind == "runLoop" {
      var parts = ["run loop" + (root.name.isEmpty ? "" : " \"\(root.name)\"")]
      if let mode = first.mode { parts.append((mode.contains(",") ? "modes " : "mode ") + mode) }
      if let item = first.item { parts.append(item + (first.name.map { " \"\($0)\"" } ?? "")) }
      lines.append("    " + parts.joined(separator: " \u{2192} "))
      return
    }
    let kind = root.kind == "threadLocal" ? "thread-local" : root.kind
    let name = root.name.isEmpty ? "" : " \(root.name)"
    lines.append("    " + TextStyle.faint.apply("[\(kind)]", options) + name + Self.owners(root, of: first.type))
  }

  /// How many of the references to an object a thread owns, as far as that is known.
  private static func owners(_ root: PathStep.Root, of type: String) -> String {
    guard let references = root.references, let owned = root.owned else { return "" }
    let all = references == 1 ? "the only reference" : "the \(references) references"
    return switch (owned, root.shared ?? false) {
    case (0, _) where references == 1: ", which does not own \(all) to \(type)"
    case (0, _): ", which owns none of \(all) to \(type)"
    case (_, true) where references == 1: ": it, or what else names it, owns \(all) to \(type)"
    case (_, true): ": it, or what else names it, owns \(owned) of \(all) to \(type)"
    case (1, _) where references == 1: ", which owns \(all) to \(type)"
    case (references, _): ", which owns all \(references) references to \(type)"
    default: ", which owns \(owned) of \(all) to \(type)"
    }
  }

  private static let chainLimit = 12

  /// Draws references as a chain: the first type, then for each field the type that it leads to.
  private mutating func addReferences(
    _ references: [Reference], end: String, closing: Bool, showsFirst: Bool = true, omitted: Int = 0
  ) {
    guard let first = references.first else {
      lines.append("    " + TextStyle.type.apply(end, options))
      return
    }
    if showsFirst { lines.append("    " + TextStyle.type.apply(first.type, options)) }
    let shown = Self.chainLimit / 2
    for (number, reference) in references.enumerated() {
      if references.count > Self.chainLimit, number >= shown, number < references.count - shown {
        if number == shown {
          lines.append("      ... \(references.count - 2 * shown + max(0, omitted)) more references ...")
        }
        continue
      }
      let isLast = number == references.count - 1
      let next = isLast ? end : references[number + 1].type
      addReference(reference, to: next + (isLast && closing ? "  \u{21BA}" : ""))
    }
  }

  private mutating func addReference(_ reference: Reference, to next: String) {
    // What is no name in the source, such as "+24" or "async frame", must not look like one.
    let isName = !reference.field.contains(" ") && !"+[".contains(reference.field.prefix(1))
    let field = TextStyle.field.apply((isName ? "." : "") + reference.field, options)
    let target = TextStyle.type.apply(next, options)
    guard reference.holdsClosure else {
      lines.append("      \(field) \u{2192} \(target)")
      return
    }
    lines.append("      \(field) \u{2192} \(StackText.closure(reference.closure, options))")
    let captures =
      "captures"
      + (reference.captures.map { " " + TextStyle.field.apply($0 == "variable" ? "a variable" : $0, options) } ?? "")
    lines.append("          \(captures) \u{2192} \(target)")
  }

  private mutating func addSite(_ allocation: Backtrace, suspended: Backtrace?) {
    if let frame = suspended?.firstOwnFrame ?? suspended?.frames.first {
      lines.append("  waits in   " + StackText.function(frame) + StackText.place(frame, options))
    }
    guard let frame = allocation.firstOwnFrame ?? allocation.frames.first else {
      lines.append("  allocated  " + TextStyle.faint.apply("at an unknown place: no backtrace was recorded", options))
      return
    }
    lines.append("  allocated  in " + StackText.function(frame) + StackText.place(frame, options))
  }

  private mutating func addScope(_ scope: Leak.Scope?) {
    guard let scope else { return }
    let frame = scope.backtrace.firstOwnFrame ?? scope.backtrace.frames.first
    let place = frame.map { " in " + StackText.function($0) + StackText.place($0, options) } ?? ""
    lines.append("  scope      \"\(scope.name)\" ended" + place)
  }

  private static let callerLimit = 3

  /// Who else called the allocating function: the first frame in which each other stack differs.
  private mutating func addOtherCallers(_ leak: Leak) {
    guard let others = leak.otherAllocations else { return }
    var seen = Set<String>()
    for other in others {
      let path = other.callPath
      let common = zip(path, leak.allocation.callPath).prefix { $0 == $1 }.count
      guard let frame = path.dropFirst(common).first else { continue }
      let text = StackText.function(frame) + StackText.place(frame, options)
      guard seen.insert(text).inserted, seen.count <= Self.callerLimit else { continue }
      lines.append("             also from " + text)
    }
    let hidden = (leak.allocationPaths ?? 0) - 1 - min(seen.count, Self.callerLimit)
    if !seen.isEmpty, hidden > 0 { lines.append("             and on \(Quantity.of(hidden, "other way"))") }
  }

  private static let typeLimit = 4

  private mutating func addAlsoLeaked(_ types: [TypeCount]) {
    guard !types.isEmpty else { return }
    var texts = types.prefix(Self.typeLimit).map { type in
      "\(type.count) \u{D7} \(type.type) (\(Quantity.bytes(type.bytes)))"
    }
    if types.count > Self.typeLimit { texts.append("\(Quantity.of(types.count - Self.typeLimit, "more type"))") }
    lines.append("  with it    " + texts.joined(separator: ", "))
  }

  private static let adviceWidth = 100

  private mutating func addAdvice(_ advice: String?) {
    guard let advice else { return }
    let rows = StackText.wrapped(advice, width: Self.adviceWidth)
    lines.append("  " + TextStyle.good.apply("advice", options) + "     " + (rows.first ?? ""))
    for row in rows.dropFirst() { lines.append("             " + row) }
  }

  private mutating func addStack(_ backtrace: Backtrace) {
    guard options.stacks else { return }
    let stack = StackText.lines(backtrace, options)
    // A stack of one frame was told already.
    if stack.count > 1 { lines += stack }
  }

  // MARK: The rest

  private mutating func addSuspect(_ suspect: Suspect, title: String) {
    let times = suspect.count == 1 ? "" : ", \(suspect.count) times"
    let item = suspect.retainPath.first?.item.map { "a \($0) that it holds itself" }
    let heading = "\(Self.subject(suspect)) held only by \(item ?? Self.holder(suspect.kind))\(times)"
    lines.append(
      TextStyle.warning.apply(title, options) + "  " + TextStyle.heading.apply(heading, options)
        + "  (\(Quantity.bytes(suspect.totalBytes)))")
    lines.append("")
    if let cycle = suspect.cycle {
      addHolder(suspect.retainPath, ofCycleFrom: cycle.first?.type ?? "")
      addReferences(cycle, end: cycle.first?.type ?? "", closing: true)
    } else {
      addPath(suspect.retainPath)
    }
    if let back = suspect.holdsBack, let first = back.first {
      lines.append("    and \(first.type) holds that thing itself:")
      let item = suspect.retainPath.first?.item.map { "the \($0)" }
      addReferences(back, end: item ?? Self.holderType(suspect.kind), closing: false)
    }
    lines.append("")
    addSite(suspect.allocation, suspended: suspect.suspended)
    addAdvice(suspect.advice)
    addStack(suspect.allocation)
    lines.append("")
  }

  private static func holder(_ kind: Suspect.Kind) -> String {
    switch kind {
    case .timer: "a timer that it holds itself"
    case .dispatchSource: "a dispatch source that it holds itself"
    case .observer: "an observer registration that it holds itself"
    case .task: "a waiting task that it holds itself"
    case .runLoop: "something in a run loop that it holds itself"
    case .thread: "a word on a thread's stack"
    default: "something that it holds itself"
    }
  }

  private static func holderType(_ kind: Suspect.Kind) -> String {
    switch kind {
    case .timer: "the timer"
    case .dispatchSource: "the dispatch source"
    case .observer: "the registration"
    case .task: "the task"
    default: "what holds it"
    }
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
