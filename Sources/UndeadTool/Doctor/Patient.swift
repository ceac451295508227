import UndeadReport
import UndeadSystem

/// A process of the tool's own that leaks on purpose: whether that is found says what works here.
enum Patient {
  /// Its first argument, in place of a path.
  static let word = "undead-patient"
  private static let waiting = "waits"
  /// So many that what is left of one on a stack hides no more than itself.
  private static let cycles = 32

  final class Owner { var part: Part? }
  final class Part { var owner: Owner? }

  /// Does its work and ends, if this process was started for it.
  static func serve(_ arguments: [String]) {
    guard arguments.first == word else { return }
    if arguments.dropFirst().first == waiting { while true { pause() } }
    for _ in 0..<cycles { leak() }
    exit(0)
  }

  /// Not optimized: the optimizer leaves out objects that nothing uses.
  @_optimize(none) private static func leak() {
    let owner = Owner()
    owner.part = Part()
    owner.part?.owner = owner
  }

  /// What a check of it reported.
  struct Result {
    var snapshot: Snapshot
    var report: LeakReport
    var seconds: Double
    /// For the names of code alone.
    var symbolSeconds: Double

    /// True if the leak was found, with its types and fields.
    var isRight: Bool {
      report.leaks.contains { leak in Set(leak.cycle?.map(\.field) ?? []) == ["owner", "part"] }
    }

    /// True if the report says in which function, by the name it has in the source.
    var namesFunction: Bool {
      report.leaks.contains { $0.allocation.frames.contains { $0.symbol.hasSuffix("Patient.leak()") } }
    }
  }

  static func check(by library: PreloadLibrary) throws(ToolError) -> Result {
    let start = SystemClock.now()
    let run = try SupervisedRun(
      executable: SymbolicLink.target("/proc/self/exe") ?? "/proc/self/exe", arguments: [Array(word.utf8)],
      instrument: .init(library: library, settings: ["UNDEAD": "1"]) { _, _ in }, showsChecks: false)
    var snapshots: [Snapshot] = []
    var failure: String?
    let status = try run.finish { ending throws(ToolError) in
      let found = SessionSnapshots(session: run.session.folder)
      let outcome = SessionOutcome(
        states: run.session.states(), program: run.pid, ending: ending, isFinal: found.isFinal,
        isRunning: ProcessFacts.isRunning)
      snapshots = try found.snapshots(outcome.snapshots)
      failure = outcome.failure
      return 0
    }
    if let failure { throw .failure(failure) }
    guard status == 0, let snapshot = snapshots.first else {
      throw .failure(status == 0 ? "it left no snapshot" : "it ended with \(status)")
    }
    let seconds = Double(SystemClock.now() - start) / 1e9
    let symbolizing = SystemClock.now()
    let symbols = Symbolizer().symbolize(snapshot).symbols
    let symbolSeconds = Double(SystemClock.now() - symbolizing) / 1e9
    let report = LeakReport(
      analyzing: [ReportInput(snapshot, symbols: symbols)], options: ReportOptions(), tool: ReportPipeline.tool)
    return Result(snapshot: snapshot, report: report, seconds: seconds, symbolSeconds: symbolSeconds)
  }

  static func startWaiting() throws(Spawn.Refusal) -> pid_t {
    try Spawn("/proc/self/exe", [word, waiting]).start()
  }
}
