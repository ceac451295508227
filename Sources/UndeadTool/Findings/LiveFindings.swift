import Glibc
import UndeadReport
import UndeadSystem

/// What is done with findings while programs run: a line on standard error, and the command of `--on-finding`.
///
/// Its owner calls ``look()`` while it waits, ``programEnded()`` before the logs are removed, ``end(with:)`` with the report on
/// the whole, and ``finish()`` last.
final class LiveFindings {
  private let command: FindingCommand?
  private let saysLines: Bool
  private let options: ReportOptions
  private let process: LeakReport.Process
  private let start = (clock: SystemClock.now(), wall: SystemClock.wallClock())
  private var watch: FindingWatch?
  private var hasEnded = false
  /// What was found last, which the report on the whole has too.
  private var last: LeakReport?

  /// - Parameters:
  ///   - saysLines: true if each use of a dead object gets a line while the program goes on.
  ///   - options: what is left out.
  ///   - process: what the reports are about.
  ///   - logs: where the programs leave them.
  /// - Returns: nil if there is nothing to do.
  init?(
    _ findings: FindingOptions, saysLines: Bool, options: ReportOptions = ReportOptions(), process: LeakReport.Process,
    logs: ZombieLogSource
  ) {
    guard saysLines || findings.onFinding != nil else { return nil }
    command = findings.onFinding.map { FindingCommand($0) }
    self.saysLines = saysLines
    self.options = options
    self.process = process
    watch = FindingWatch(logs) { [unowned self] in tell($0) }
  }

  /// Looks for news, and sees to the command.
  ///
  /// - Returns: when to look again (see `SystemClock.now()`).
  @discardableResult func look() -> UInt64 {
    min(watch?.look() ?? .max, command?.look() ?? .max)
  }

  private func tell(_ findings: ZombieFindings) {
    var snapshot = Snapshot(unchecked: process)
    snapshot.zombies = findings
    var report = LeakReport(analyzing: [ReportInput(snapshot)], options: options, tool: ReportPipeline.tool)
    guard !report.zombies.isEmpty else { return }
    report.process.startedAt = Timestamp.text(secondsSince1970: "\(Double(start.wall) / 1e9)")
    report.process.durationSeconds = Double((SystemClock.now() - start.clock) / 1_000_000) / 1000
    report.summary.notes = findings.notes + ["the program went on: leaks were not looked for"]
    if hasEnded {
      last = report
      return
    }
    if saysLines {
      for zombie in report.zombies { Message.say("zombie: \(zombie.description)  [\(zombie.signature)]") }
    }
    command?.add(.zombie, report)
  }

  /// Hands over the heap that was kept because memory got short.
  func add(heap path: String, _ report: LeakReport, reason: String) {
    command?.add(.memory, report, facts: ["HEAP": path, "MESSAGE": reason])
  }

  /// True if the command wants reports on kept heaps.
  var wantsHeaps: Bool { command != nil }

  /// Hands over what grew, as JSON.
  func add(growth json: [UInt8], rules: [String]) {
    command?.add(
      growth: String(decoding: json, as: UTF8.self),
      facts: ["PID": "\(process.pid)", "PROGRAM": process.path, "MESSAGE": rules.joined(separator: "; ")])
  }

  // MARK: The end

  /// Reads what the programs logged last.
  func programEnded() {
    hasEnded = true
    watch?.finish()
    watch = nil
  }

  /// Hands over the report on the whole if it has something that was not handed over yet.
  func end(with report: LeakReport, failOn: Set<FailureCondition>) {
    var rest = report
    rest.zombies = []
    guard last != nil || rest.fails(on: failOn.subtracting([.incomplete])) else { return }
    command?.add(last == nil ? .leak : .zombie, whole: report)
    last = nil
  }

  /// Waits for the command.
  func finish() {
    if let last { command?.add(.zombie, last) }
    last = nil
    command?.finish()
  }
}
