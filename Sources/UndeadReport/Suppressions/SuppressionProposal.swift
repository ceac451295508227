import UndeadSystem

/// Lines of a suppression file that take out what a report has.
package enum SuppressionProposal {
  /// A rule for each leak, suspect and zombie, in the order of the report; one that several need is there once.
  package static func lines(for report: LeakReport) -> [String] {
    let rules =
      report.leaks.map { (rule(for: $0), "\(title($0.count)), allocated in \(place($0.allocation))") }
      + report.suspects.map { (rule(for: $0), "\(title($0.count)), allocated in \(place($0.allocation))") }
      + report.zombies.map { ("zombie-type:^\($0.type)$", "\($0.message)") }
    var seen: Set<String> = []
    return rules.compactMap { rule, reason in
      guard let rule, seen.insert(rule).inserted else { return nil }
      return "\(patterned(rule))  # \(VisibleText.line(reason))"
    }
  }

  /// A rule is one line of visible text: anything may stand where the name has something else.
  private static func patterned(_ rule: String) -> String {
    var previous: Unicode.Scalar = " "
    return ScalarEscapes.applied(to: rule) { scalar in
      defer { previous = scalar }
      return VisibleText.isHidden(scalar) || scalar == "#" && previous == "#" ? "*" : nil
    }
  }

  /// The field that is to blame for a cycle; else what leaked.
  private static func rule(for leak: Leak) -> String? {
    guard let reference = reference(of: leak), isOfProgram(reference.type) else {
      return rule(for: leak.objects, in: leak.suspended ?? leak.allocation)
    }
    // The position in a collection is another one next time.
    let anyPosition = NodeNames.withoutIndices(reference.field).replacing("[]", with: "[*]")
    return "field:^\(reference.type).\(anyPosition)$"
  }

  private static func reference(of leak: Leak) -> Reference? {
    guard let cycle = leak.cycle else { return nil }
    if leak.kind == .retainCycle, let position = Blame.of(leak).reference { return cycle[position] }
    let named = cycle.filter { !$0.field.isEmpty && !$0.isNameless }
    return named.first(where: \.isOfUser) ?? named.first
  }

  private static func rule(for suspect: Suspect) -> String? {
    rule(for: suspect.objects, in: suspect.suspended ?? suspect.allocation)
  }

  /// The type, if it is one of the program: a rule for all tasks, or all closures, would take out other leaks as well.
  private static func rule(for objects: [LeakedObject], in stack: Backtrace) -> String? {
    guard let type = objects.first?.type else { return nil }
    guard !isOfProgram(type), let frame = stack.firstOwnFrame else { return "type:^\(type)$" }
    return "leak:^\(frame.symbol)$"
  }

  private static func isOfProgram(_ type: String) -> Bool {
    !TypeName.isOfRuntime(type) && !ToolchainModules.declare(type)
  }

  private static func title(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

  private static func place(_ backtrace: Backtrace) -> String {
    (backtrace.site)?.symbol ?? "an unknown place"
  }
}
