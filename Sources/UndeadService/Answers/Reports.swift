import Undead
import UndeadReport
import UndeadSystem

extension UndeadDebugService {
  /// `/debug/undead/report`: leaks and suspects.
  func report(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    var options = ReportTextOptions()
    options.hint = ": ?top=N shows more culprits, and ?format=json has everything"
    if let top = try request.number("top") { options.top = top }
    try requireRecording()
    let snapshot = try await gate.look { try LeakDetector.snapshot() }
    let names = names
    let report = await OwnThread.run {
      let found = names.look(up: snapshot)
      var report = LeakReport(analyzing: [ReportInput(snapshot, symbols: found.symbols)])
      report.summary.notes += found.notes
      return report
    }
    return try response(report, format, options)
  }

  /// `/debug/undead/zombies`: the uses of deallocated objects that the sniffer of this process has found.
  func zombies(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    var options = ReportTextOptions()
    options.hint = ": ?top=N shows more, and ?format=json has everything"
    if let top = try request.number("top") { options.top = top }
    let symbolizer = names.symbolizer
    let findings = await OwnThread.run { ZombieSniffer.found(symbolizer: symbolizer) }
    if findings.isEmpty, let reason = ZombieSniffer.inactiveReason {
      throw Missing(
        status: 503,
        description:
          "uses of deallocated objects are not looked for: \(reason); start the program with UNDEAD_ZOMBIES=sampled in its "
          + "environment, or call ZombieSniffer.start()")
    }
    guard format != .text else { return .init(text: TextRenderer.render(findings, options: options)) }
    var snapshot = LeakSnapshot(
      unchecked: LeakReport.Process(
        path: CommandLine.arguments.first ?? "", arguments: CommandLine.arguments, pid: Int(getpid())))
    snapshot.zombies = findings
    var report = LeakReport(analyzing: [snapshot])
    report.summary.notes = findings.notes + ["leaks were not looked for: /debug/undead/report does that"]
    return try response(report, format, options)
  }

  /// `POST /debug/undead/mark`: begins a generation.
  func mark(_ request: Request) async throws -> Response {
    guard let name = request.value("name") else { throw BadQuery("give the mark a name: ?name=before-deploy") }
    try requireRecording()
    guard let number = LeakDetector.markGeneration(name) else {
      throw Missing(status: 503, description: "no more generations can be distinguished in this process")
    }
    return .init(text: "generation \(number) begins\n")
  }
}
