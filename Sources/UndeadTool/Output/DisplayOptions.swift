import Glibc
import UndeadReport

/// Options of every verb that shows a report.
struct DisplayOptions: ParsableArguments {
  enum Color: String, ExpressibleByArgument, CaseIterable {
    case auto, always, never

    func isUsed(terminal: Bool) -> Bool {
      switch self {
      case .always: true
      case .never: false
      case .auto: terminal && System.environment("NO_COLOR") == nil && System.environment("TERM") != "dumb"
      }
    }
  }

  @Option("-f, --format <format>", help: "Form of the report: \(ReportFormat.explainedList).", brief: ReportFormat.list)
  var format: ReportFormat = .text

  @Option(
    "-o, --output <file>", help: "Write the report to a file instead of the terminal.",
    brief: "write the report to a file", completion: .file)
  var output: String?

  @Option(
    "--report <format=file>",
    help: "Write a further report in another form to a file, for example junit=leaks.xml. Can be given several times.",
    brief: "write a further report", completion: .words { ReportFormat.allCases.map { "\($0.rawValue)=" } })
  var furtherReports: [FurtherReport] = []

  @Option(
    "--suppressions <file>",
    help: "Leave out what a file lists: lines 'leak:PATTERN', 'type:PATTERN', 'field:PATTERN' or 'module:PATTERN', "
      + "each with a reason after '#'. Can be given several times.", brief: "leave out what a file lists",
    completion: .file)
  var suppressions: [String] = []

  @Flag("--no-suppressions", help: "Do without the file .undead.supp of the package, which is read by itself.")
  var noSuppressions = false

  @Flag(
    "--generate-suppressions",
    help: "After the report, print lines of a suppression file that would leave out what was found.")
  var generateSuppressions = false

  @Option(
    "--baseline <file>", help: "Accept what a file lists by its signature: only what is not in it is shown and fails.",
    brief: "report only what the file does not list (--update-baseline)", completion: .file)
  var baseline: String?

  @Flag("--update-baseline", help: "Write all that was found into the file of --baseline, and accept it.")
  var updateBaseline = false

  @Flag(
    "--no-stacks",
    help: "Leave out the backtraces. 'run' does not record them then, which is faster (as with '--stacks none').")
  var noStacks = false

  @Flag("--explain", help: "Say of each leak why it is certain: what names it, and which counts decided.")
  var explain = false

  @Option("--depth <frames>", help: "Most frames to show of each backtrace in the text report.")
  var depth: Int?

  @Option(
    "--top <culprits>",
    help: "Show so many culprits in text and summaries, the worst first; groups of one culprit share a block. "
      + "(default: 20)")
  var top: Int?

  @Flag(
    "--all", help: "Show every group in text and summaries, each in a block of its own.",
    brief: "show every group, not the 20 worst")
  var all = false

  @Option("--min-count <objects>", help: "Leave out groups of fewer objects.")
  var minCount = 1

  @Option(
    "--color <color>", help: "Colour in the text report: auto (on a terminal, unless NO_COLOR is set), always or never."
  )
  var color: Color = .auto

  @Flag("-v, --verbose", help: "Print what the tool does.")
  var verbose = false

  @Flag("-q, --quiet", help: "Write no report in text if nothing was found and everything was checked.")
  var quiet = false

  func validate() throws {
    if let depth, depth < 1 { throw ValidationError("--depth \(depth): give a number of frames, 1 or more") }
    if let top, top < 1 { throw ValidationError("--top \(top): give a number of culprits, 1 or more") }
    if all, top != nil { throw ValidationError("--all and --top: give only one of them") }
    // Known before the program runs: a profile on a terminal would be lost.
    if format == .pprof, output == nil {
      throw ValidationError("--format pprof: a profile is no text; name a file for it with --output")
    }
    if !furtherReports.isEmpty {
      let files = [output].compactMap(\.self) + furtherReports.map(\.file)
      guard Set(files).count == files.count else {
        throw ValidationError("--output and --report: two reports would be written to the same file")
      }
    }
    if quiet, verbose { throw ValidationError("--quiet and --verbose: give only one of them") }
    if updateBaseline, baseline == nil { throw ValidationError("--update-baseline: name the file with --baseline") }
    if minCount < 1 { throw ValidationError("--min-count \(minCount): give a number of objects, 1 or more") }
  }

  func usesColor(terminal: Bool) -> Bool {
    color.isUsed(terminal: terminal)
  }

  func note(_ text: @autoclosure () -> TextLine) {
    if verbose { Message.say(text()) }
  }

  /// False if a program reads the report there.
  var leavesStandardErrorToMessages: Bool { format == .text || output != nil }

  /// What the instrument gets of them: variables of its environment.
  var settings: [String: String] {
    var settings: [String: String] = [:]
    if noStacks { settings["UNDEAD_STACKS"] = "none" }
    if verbose { settings["UNDEAD_VERBOSE"] = "1" }
    return settings
  }
}
