import UndeadReport
import UndeadSystem

/// What is expected, and what was there already: suppressions and the baseline.
extension ReportPipeline {
  static let suppressionFile = ".undead.supp"

  /// The rules of the package, then those of the files that were named.
  static func suppressions(_ display: DisplayOptions) throws(ToolError) -> Suppressions {
    var suppressions = Suppressions()
    let shared = ProjectFiles.nearest(suppressionFile, from: System.currentDirectory)
    if let shared, !display.noSuppressions {
      switch FoundFile.read(suppressionFile, in: String(shared.dropLast(suppressionFile.utf8.count + 1))) {
      case .content(let content):
        try add(String(decoding: content, as: UTF8.self), of: shared, to: &suppressions, tellsUnused: false)
      case .doubtful(let doubt):
        Message.say(TextLine(FoundFile.sentence(shared, doubt, instead: "name it with --suppressions")))
      case .unreadable(let code):
        throw .misuse("cannot read the suppressions '\(shared)' (of the package): \(SystemError.text(code))")
      case .missing: break
      }
    }
    for file in display.suppressions {
      try add(
        text(of: file, what: "the suppressions '\(file)' (--suppressions)"), of: file, to: &suppressions,
        tellsUnused: true)
    }
    return suppressions
  }

  private static func add(
    _ text: String, of file: String, to suppressions: inout Suppressions, tellsUnused: Bool
  ) throws(ToolError) {
    do throws(SuppressionError) {
      try suppressions.add(text, file: file, tellsUnused: tellsUnused)
    } catch {
      throw .misuse("\(error)")
    }
  }

  /// What is accepted; nil for nothing, even if it is just to be written.
  static func baseline(_ display: DisplayOptions) throws(ToolError) -> Baseline? {
    guard let file = display.baseline else { return nil }
    if display.updateBaseline {
      try SnapshotFile.checkWritable(file, option: "--baseline")
      return nil
    }
    guard System.status(of: file) != nil else {
      throw .misuse("there is no baseline '\(file)' yet; --update-baseline writes one with what is found now")
    }
    let text = try text(of: file, what: "the baseline '\(file)'")
    do throws(SuppressionError) {
      return try Baseline(parsing: text, file: file)
    } catch {
      throw .misuse("\(error)")
    }
  }

  private static func text(of file: String, what: String) throws(ToolError) -> String {
    String(decoding: try InputFile.content(file, as: what), as: UTF8.self)
  }

  /// With `--update-baseline`, writes what the report has to the baseline, and leaves it out of the report.
  func accepting(_ report: LeakReport) throws(ToolError) -> LeakReport {
    guard display.updateBaseline, let file = display.baseline else { return report }
    guard report.summary.complete else {
      throw .failure("the baseline '\(file)' was not written: not everything was checked, and it would lack leaks")
    }
    let baseline = Baseline(of: report, file: file)
    if let code = FileReplacement.write(baseline.text.utf8, to: file) {
      throw .failure("cannot write the baseline '\(file)': \(SystemError.text(code))")
    }
    var options = ReportOptions()
    options.baseline = baseline
    var rest = report
    rest.apply(options)
    return rest
  }

  /// With `--generate-suppressions`, lines that would leave out what the report has: below a text, else on standard error.
  func proposeSuppressions(for report: LeakReport, to sink: OutputSink) throws(ToolError) {
    guard display.generateSuppressions else { return }
    let lines = SuppressionProposal.lines(for: report)
    guard !lines.isEmpty else { return }
    let text =
      "\n# For \(Self.suppressionFile) in the package, or a file for --suppressions:\n"
      + lines.map { "\($0)\n" }.joined()
    try (display.format == .text ? sink : .standardError).write(text.utf8)
  }
}
