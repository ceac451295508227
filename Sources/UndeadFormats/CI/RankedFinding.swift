import UndeadReport
import UndeadSystem

/// What one thing is to blame for, in one list of all kinds, the most important first: uses of dead objects, then leaks,
/// then suspects.
struct RankedFinding {
  /// `leak`, `suspect` or `zombie`.
  var kind: String
  /// `retainCycle`, `heldByTimer`, `method`: the kind in JSON.
  var cause: String
  /// The same from run to run: of the culprit, or of the group if each stands alone.
  var signature: String
  /// "retain cycle of App.Owner, 3 times".
  var heading: String
  /// "3 objects, 96 bytes"; empty where nothing is counted.
  var size: String
  /// The test or number of tests that made it.
  var tests: String?
  /// Where it is shown beside the sources.
  var place: RepositoryPlace?
  /// The function that says most.
  var function: String?
  /// What to do.
  var advice: String?
  /// The finding as text.
  var lines: [TextLine]
  /// All that it stands for; nil for the use of a dead object.
  private var group: Findings.Group?

  static func all(of report: LeakReport, _ options: ReportTextOptions) -> [RankedFinding] {
    let findings = Findings(report, byCulprit: options.groupsByCulprit)
    return findings.zombies.map { RankedFinding(zombie: $0, options) }
      + (findings.leaks + findings.suspects).map { RankedFinding($0, options) }
  }

  /// "1 more zombie, 3 more leaks of 2 culprits (3 objects, 96 bytes)"; nil if there are none.
  static func rest(_ findings: some Collection<RankedFinding>) -> String? {
    let zombies = findings.count { $0.group == nil }
    let parts = [
      zombies == 0 ? nil : Quantity.of(zombies, "more zombie"), rest(findings, of: .leak), rest(findings, of: .suspect),
    ]
    let told = parts.compactMap(\.self)
    return told.isEmpty ? nil : told.joined(separator: ", ")
  }

  private static func rest(_ findings: some Collection<RankedFinding>, of kind: Finding.Kind) -> String? {
    Findings.rest(findings.compactMap(\.group).filter { $0.worst.kind == kind }, after: 0, noun: kind.rawValue)
  }

  private init(_ group: Findings.Group, _ options: ReportTextOptions) {
    kind = group.worst.kind.rawValue
    cause = group.worst.cause
    signature = options.groupsByCulprit ? group.culprit.signature : group.worst.signature
    advice = group.worst.advice
    heading = group.heading
    size = group.size
    let shares = group.culprit.tests ?? []
    tests =
      switch shares.count {
      case 0: nil
      case 1: shares[0].test
      default: Quantity.of(shares.count(where: { $0.test != nil }), "test")
      }
    place = RepositoryPlace(group.worst, options)
    function = group.worst.sites.compactMap(\.frame).first.map(StackText.function)
    lines = FindingText.lines(group, title: TextLine(kind.uppercased()), options)
    self.group = group
  }

  private init(zombie: Finding, _ options: ReportTextOptions) {
    kind = zombie.kind.rawValue
    cause = zombie.cause
    signature = zombie.signature
    advice = zombie.advice
    heading = zombie.heading
    size = ""
    place = RepositoryPlace(zombie, options)
    function = zombie.sites.compactMap(\.frame).first.map(StackText.function)
    lines = FindingText.lines(zombie, title: "zombie:", options)
  }
}
