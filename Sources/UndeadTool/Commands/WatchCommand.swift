import Glibc
import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// `undead watch`: says what grows in a program over time.
struct WatchCommand: Command {
  static let help = CommandHelp(
    name: "watch",
    abstract: "Count live objects every second, and report what grows.",
    usage: """
      undead watch [options] PID
      undead watch [options] -- PROGRAM ARGUMENTS...
      """,
    examples: [
      ("undead watch --for 10min -- .build/release/App", "starts the program and ends it"),
      ("undead watch 4711", "a process, until Ctrl-C"),
      ("undead watch --for 10min --fail-on-growth 'App.*>100/h' -- .build/release/App", "in CI"),
    ],
    common: ["--for", "--every", "--warm-up", "--fail-on-growth", "--heap", "--format", "--output"],
    discussion: """
      Counts the live objects by type (the program stops for some milliseconds), and reports the types that \
      certainly grow after a warm-up, with the collection that holds them and the lines that allocate them. A \
      program that is started here gets SIGTERM after --for. A process that does not run under 'undead run' is copied \
      for each count; 'undead record' before it makes the lines known that allocate.

      A wave, one step, or a cache that fills and stays full is no growth. Watch for longer than these take: for a \
      service under load, ten minutes.

      RULE: 'any' (nothing may grow), '10MB/h' or '1000/min' (all memory, by bytes or blocks), 'App.Session>100/min' or \
      'App.*>1MB/h' (types), 'App.Session' (may not grow at all). '*' stands for any characters; units are B, KB, MB, GB, or \
      none for objects; s, min, h, d. A rule is broken if growth is certainly above it.

      Exit status: the program's own if it ended by itself with another than 0; else 23 if a rule is broken, else 0. \
      64: the command line is wrong. 70: nothing could be judged, though rules are given, or no census could be taken.
      """)

  @Option(
    "--every <time>", help: "Time between two counts, such as 500ms, 1s or 1min.", brief: "between two counts: 1s",
    transform: WatchTime.parse)
  var every = WatchTime(seconds: 1)

  @Option(
    "--for <time>", help: "How long to watch, such as 30s, 10min or 2h; else until the program ends, or Ctrl-C.",
    brief: "how long", transform: WatchTime.parse)
  var duration: WatchTime?

  @Option(
    "--warm-up <time>", help: "Time at the start that is not judged; else a quarter of all.",
    brief: "at the start, not judged; else a quarter", transform: WatchTime.parse)
  var warmUp: WatchTime?

  @Option(
    "--fail-on-growth <rule>", help: "End with 23 if this grows. Can be given several times.",
    brief: "any, '10MB/h', '1000/min', 'App.Session>100/min'")
  var failOnGrowth: [GrowthRule] = []

  @Option(
    "--heap <file>", help: "Keep the heap of the last moment in this file, for 'undead heap' and 'undead diff'.",
    brief: "keep the heap of the last moment", completion: .file)
  var heap: String?

  @Option("-f, --format <format>", help: "Form of the report: text or json.", brief: "text or json")
  var format: AnswerFormat = .text

  @OptionGroup var answer: AnswerFile

  @OptionGroup var findings: FindingOptions

  @Argument(
    "[<pid>]", help: "Process id of a program, or of the 'undead run' that started it.", completion: .ownProcesses)
  var pid: Int32?

  @Argument(
    "[<program arguments> ...]", words: .afterTerminator,
    help: "The program to start, looked up in PATH, and its arguments.",
    completion: .file)
  var command: [String] = []

  func validate() throws {
    if (pid == nil) == command.isEmpty {
      throw ValidationError(
        pid == nil
          ? "name a process or a program to watch, for example: undead watch --for 1min -- .build/debug/App"
          : "give a process id or a program, not both")
    }
    if let pid { try AskedProgram.check(pid: pid) }
    if every.seconds < 0.05 { throw ValidationError("--every: give at least 50ms") }
    if let duration, duration.seconds < every.seconds { throw ValidationError("--for: it is shorter than --every") }
    if let duration, let warmUp, warmUp.seconds >= duration.seconds {
      throw ValidationError("--warm-up: it leaves nothing of --for to judge")
    }
  }

  func run() throws {
    if let heap { try SnapshotFile.checkWritable(heap, option: "--heap") }
    let run = try WatchRun(options: self)
    throw ExitCode(try pid.map { try run.watch($0) } ?? run.watchProgram())
  }
}

extension GrowthRule: ExpressibleByArgument {
  init(argument: String) throws {
    do {
      try self.init(argument)
    } catch {
      throw ValidationError(TextLine(error.description))
    }
  }
}
