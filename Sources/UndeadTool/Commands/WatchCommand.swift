import ArgumentParser
import Glibc
import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// `undead watch`: says what grows in a program over time.
struct WatchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Count live objects every second, and report what grows.",
    usage: """
      undead watch [options] PID
      undead watch [options] -- PROGRAM ARGUMENTS...
      """,
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
    help: ArgumentHelp("Time between two counts, such as 500ms, 1s or 1min.", valueName: "time"),
    transform: WatchTime.parse)
  var every = WatchTime(seconds: 1)

  @Option(
    name: .customLong("for"),
    help: ArgumentHelp(
      "How long to watch, such as 30s, 10min or 2h; else until the program ends, or Ctrl-C.", valueName: "time"),
    transform: WatchTime.parse)
  var duration: WatchTime?

  @Option(
    help: ArgumentHelp("Time at the start that is not judged; else a quarter of all.", valueName: "time"),
    transform: WatchTime.parse)
  var warmUp: WatchTime?

  @Option(
    help: ArgumentHelp("End with 23 if this grows. Can be given several times.", valueName: "rule"),
    transform: WatchCommand.parseRule)
  var failOnGrowth: [GrowthRule] = []

  @Option(
    help: ArgumentHelp(
      "Keep the heap of the last moment in this file, for 'undead heap' and 'undead diff'.", valueName: "file"),
    completion: .file())
  var heap: String?

  @Option(name: .shortAndLong, help: "Form of the report: text or json.")
  var format: AnswerFormat = .text

  @OptionGroup var answer: AnswerFile

  @OptionGroup var findings: FindingOptions

  @Argument(
    help: "Process id of a program, or of the 'undead run' that started it.", completion: .ownProcesses)
  var pid: Int32?

  @Argument(
    parsing: .postTerminator,
    help: ArgumentHelp("The program to start, looked up in PATH, and its arguments.", valueName: "program arguments"),
    completion: .file())
  var command: [String] = []

  static func parseRule(_ text: String) throws -> GrowthRule {
    do {
      return try GrowthRule(text)
    } catch {
      throw ValidationError(error.description)
    }
  }

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

/// A time of the command line.
struct WatchTime: Equatable {
  var seconds: Double

  private static let units: [(name: String, seconds: Double)] = [
    ("ms", 0.001), ("min", 60), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
  ]

  /// "500ms", "1.5s", "10min"; without a unit in seconds.
  static func parse(_ text: String) throws -> WatchTime {
    for unit in units where text.hasSuffix(unit.name) {
      guard let number = Double(text.dropLast(unit.name.count)), number > 0 else { break }
      guard number * unit.seconds <= 1e8 else { break }
      return WatchTime(seconds: number * unit.seconds)
    }
    throw ValidationError("'\(text)' is no time; write for example 500ms, 30s, 10min or 2h")
  }
}
