import ArgumentParser
import Glibc
import UndeadReport

/// `undead snapshot`: reports on a program that `undead run` started, while it goes on.
struct SnapshotCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshot",
    abstract: "Report on a running program that 'undead run' started; it goes on.",
    discussion: """
      Exit status: 23 if leaks or zombies were found (see --exit-code and --fail-on), else 0. 64: the command line is \
      wrong, or the process was not started by 'undead run'. 70: no snapshot could be taken.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions

  @OptionGroup var kept: KeptFiles

  @OptionGroup var common: CommonOptions

  @OptionGroup var program: AskedProgram

  func run() throws {
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    try kept.checkWritable()
    let file = try Self.takeSnapshot(
      of: program.pid, kind: kept.heap == nil ? .snapshot : .heap, timeout: program.timeout)
    defer { file.remove() }
    let snapshot = try SnapshotFile.load(file)
    if let heap = kept.heap { try SavedHeap.keep(file, of: snapshot, at: heap) }
    throw ExitCode(
      try pipeline.emit([snapshot], notes: [], isComplete: true, save: kept.save, to: sink, progress: Progress()))
  }

  /// Asks a process under the tool, and waits for its answer.
  ///
  /// - Parameters:
  ///   - pid: of the program, or of the `undead run` that started it.
  ///   - timeout: in seconds.
  /// - Returns: the file that it wrote, whose name is the caller's to take away.
  /// - Throws: `ToolError` that says why there is none.
  static func takeSnapshot(
    of pid: pid_t, kind: SnapshotRequest.Kind, timeout: Double
  ) throws(ToolError) -> SessionFile {
    try SnapshotRequest(of: pid, kind: kind).wait(timeout: timeout, progress: Progress())
  }
}
