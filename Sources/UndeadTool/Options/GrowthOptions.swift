import UndeadHeap
import UndeadHeapReport

/// Two checks of a process, and what may not grow between them.
struct GrowthOptions: ParsableArguments {
  @Option(
    "--for <time>", help: "Check twice, so far apart, and show what grew: 30s, 10min or 2h.",
    brief: "check twice and show what grew: 30s, 10min, 2h", transform: WatchTime.parse)
  var duration: WatchTime?

  @Option(
    "--fail-on-growth <rule>",
    help: "With --for: fail if this grew: any, a type ('App.Session', 'App.*') or more than a rate ('10MB/h', "
      + "'App.Session>100/min'). Can be given several times.",
    brief: "with --for: fail if this grew, such as 'App.*>100/h'")
  var failOnGrowth: [GrowthRule] = []

  func validate(with report: DisplayOptions, _ kept: KeptFiles?) throws {
    if !failOnGrowth.isEmpty, duration == nil {
      throw ValidationError("--fail-on-growth: growth is shown with --for TIME only")
    }
    guard duration != nil else { return }
    if kept?.save != nil { throw ValidationError("--save: with --for keep the last check by --heap") }
    if !report.furtherReports.isEmpty { throw ValidationError("--report is not for growth; use --output") }
  }
}
