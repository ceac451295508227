/// Lines of a suppression file that take out what a report has.
public enum SuppressionProposal {
  /// A rule for each leak, suspect and zombie, in the order of the report; one that several need is there once.
  public static func lines(for report: LeakReport) -> [String] {
    let rules =
      report.leaks.map { (rule(for: $0), "\(title($0.count)), allocated in \(place($0.allocation))") }
      + report.suspects.map { (rule(types: $0.objects), "\(title($0.count)), allocated in \(place($0.allocation))") }
      + report.zombies.map { ("zombie-type:^\($0.type)$", "\($0.message)") }
    var seen: Set<String> = []
    return rules.compactMap { rule, reason in
      guard let rule, seen.insert(rule).inserted else { return nil }
      return "\(rule)  # \(reason)"
    }
  }

  /// The field that makes the cycle, best one of the program; else the type of what leaked.
  private static func rule(for leak: Leak) -> String? {
    let named = (leak.cycle ?? []).filter { !$0.field.isEmpty }
    let own = named.first { reference in !systemModules.contains { reference.type.hasPrefix("\($0).") } }
    guard let field = own ?? named.first else { return rule(types: leak.objects) }
    // The position in a collection is another one next time.
    let anyPosition = NodeNames.withoutIndices(field.field).replacing("[]", with: "[*]")
    return "field:^\(field.type).\(anyPosition)$"
  }

  private static func rule(types objects: [LeakedObject]) -> String? {
    objects.first.map { "type:^\($0.type)$" }
  }

  private static let systemModules = ["Swift", "Foundation", "FoundationEssentials", "Dispatch", "Synchronization"]

  private static func title(_ count: Int) -> String { count == 1 ? "once" : "\(count) times" }

  private static func place(_ backtrace: Backtrace) -> String {
    (backtrace.firstOwnFrame ?? backtrace.frames.first)?.symbol ?? "an unknown place"
  }
}
