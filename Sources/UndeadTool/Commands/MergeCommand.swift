import Glibc
import UndeadFormats
import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// `undead merge`: reports or heaps of many hosts as one.
struct MergeCommand: Command {
  static let help = CommandHelp(
    name: "merge",
    abstract: "Merge reports, or heaps, of many hosts or parts of a test run into one.",
    examples: [
      ("undead merge web1=a.undead web2=b.undead", "one finding, with the hosts that have it"),
      ("undead merge part*.json -f junit -o all.xml", "parts of a test run"),
    ],
    common: ["--format", "--output", "--fail-on", "--all"],
    discussion: """
      All files are of one kind: snapshots and JSON reports, or heap files and the JSON of 'undead heap'. HOST=FILE \
      names the host; a file without a name is a host by itself. Leaks of one signature are one group, with their \
      hosts and the number on each; types of heaps likewise.

      Profiles are merged by pprof itself: go tool pprof -proto A.pb B.pb > all.pb

      Exit status: 23 if leaks or zombies are in one of the reports (see --exit-code and --fail-on), else 0. 64: the command \
      line is wrong, or a file cannot be read. 70: one of the checks was incomplete, and nothing that is worse was found.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions
  @OptionGroup(title: "Core files") var core: CoreOptions

  @Flag("--leaks", help: "Of heap files, merge the leaks.")
  var leaks = false

  @Argument("<[host=]file> ...", help: "Files, each with the name of its host if that matters.", completion: .file)
  var files: [String] = []

  func validate() throws {
    if report.updateBaseline {
      throw ValidationError("--update-baseline is not for 'undead merge'; use 'undead leaks'")
    }
  }

  func run() throws {
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    var reports: [HostInput<LeakReport>] = []
    var heaps: [HostInput<HeapReport>] = []
    for argument in files {
      let (host, file) = Self.split(argument)
      switch try MergeInput(file: file, leaks: leaks, core: core) {
      case .report(let report): reports.append(.init(host: host ?? file, file: file, value: report))
      case .heap(let heap): heaps.append(.init(host: host ?? file, file: file, value: heap))
      }
    }
    if let report = reports.first, let heap = heaps.first {
      throw ToolError.misuse(
        "'\(report.file)' has leaks and '\(heap.file)' a heap, and these are not merged with each other; "
          + "give files of one kind, or --leaks for the leaks of heap files")
    }
    let sink = try self.report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    throw ExitCode(try heaps.isEmpty ? pipeline.emitMerged(reports, to: sink) : pipeline.emitMerged(heaps, to: sink))
  }

  /// A file may have an equals sign in its name.
  private static func split(_ argument: String) -> (host: String?, file: String) {
    let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2, !parts[0].isEmpty, !parts[0].contains("/"), System.status(of: argument) == nil else {
      return (nil, argument)
    }
    return (parts[0], parts[1])
  }
}

extension ReportPipeline {
  func emitMerged(_ reports: [HostInput<LeakReport>], to sink: OutputSink) throws(ToolError) -> Int32 {
    let merged = MergedReport(reports, options: options, tool: Self.tool)
    switch display.format {
    case .text: try sink.write(MergedReportText.render(merged, options: textOptions(sink)).utf8)
    case .json: try sink.writeJSON { try JSONRenderer.encode(merged) }
    default: try write(merged.report, as: display.format, to: sink, hosts: merged.hostCounts)
    }
    try writeFurtherReports(merged.report, hosts: merged.hostCounts)
    if merged.report.fails(on: verdict.failOn) { return verdict.exitCode }
    return merged.report.summary.complete || !merged.report.leaks.isEmpty ? 0 : ExitStatus.toolFailure
  }

  func emitMerged(_ heaps: [HostInput<HeapReport>], to sink: OutputSink) throws(ToolError) -> Int32 {
    let merged = MergedHeap(heaps, tool: Self.tool)
    switch display.format {
    case .text:
      let text = MergedHeapText.render(merged, rows: display.all ? .max : display.top ?? 20, options: textOptions(sink))
      try sink.write(text.utf8)
    case .json: try sink.writeJSON { try JSONRenderer.encode(merged) }
    default: throw .misuse("undead merge of heaps writes text or json; choose one of them with --format")
    }
    return merged.summary.complete ? 0 : ExitStatus.toolFailure
  }
}
