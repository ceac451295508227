import Glibc
import UndeadReport

/// `undead run`: runs a program and reports what it leaked.
struct RunCommand: Command {
  static let help = CommandHelp(
    name: "run",
    abstract: "Run a program and report what it leaked when it ends.",
    usage: "undead run [options] -- PROGRAM ARGUMENTS...",
    examples: [
      ("undead run -- .build/debug/App --port 80", "the program keeps its output, signals and exit status"),
      ("undead run --zombies -- .build/debug/App", "uses of deallocated objects, too"),
      ("undead run --sample 512KiB -- .build/release/Server", "cheap enough for weeks"),
    ],
    common: [
      "--format", "--output", "--fail-on", "--all", "--suppressions", "--baseline", "--zombies", "--stacks", "--sample",
      "--save", "--heap", "--snapshot-at", "--on-finding",
    ],
    discussion: """
      The program keeps its standard input, output and error, its signals and its exit status; the report goes to \
      standard error, or to --output. Its Swift child processes are checked too.

      Exit status: the program's own if it is not 0 (128+n if signal n ended it), else 23 if leaks or zombies were \
      found (see --exit-code and --fail-on), else 0. 64: the command line is wrong, or the program cannot be run. \
      70: the check could not be made, though the program ended with 0.
      """)

  @OptionGroup(title: "Report") var report: DisplayOptions
  @OptionGroup(title: "Verdict") var verdict: VerdictOptions
  @OptionGroup(title: "Zombies") var zombies: ZombieOptions
  @OptionGroup var findings: FindingOptions
  @OptionGroup(title: "Memory") var memory: MemoryOptions

  @OptionGroup var stacks: StackOptions

  @Option(
    "--sample <bytes>",
    help:
      "Keep the backtraces of a sample of the allocations only, one for so many bytes on average (such as 512KiB): cheap "
      + "enough for a service.", brief: "record the backtraces of a sample, such as 512KiB",
    transform: SampleSetting.parse)
  var sample: SampleSetting?

  @OptionGroup var kept: KeptFiles

  @Option(
    "--snapshot-signal <signal>",
    help: "When the tool gets this signal (such as USR1), report on the running program, which goes on. "
      + "With --output, --save and --heap, into files with .1, .2 ... appended.",
    completion: .words { SignalName.catchable }, transform: RunCommand.parseSignal)
  var snapshotSignal: Int32?

  @Argument(
    "[<program arguments> ...]", words: .rest, help: "The program, looked up in PATH, and its arguments.",
    completion: .file)
  var command: [String] = []

  func validate() throws {
    // What is captured for the program includes options that this verb does not declare.
    if let first = command.first, first.hasPrefix("-"), first != "--" {
      throw ValidationError("'\(first)' is no option of 'undead run'; options of the program come after it")
    }
    guard command.first != "--" || command.count > 1, !command.isEmpty else {
      throw ValidationError("name a program to run, for example: undead run -- .build/debug/App")
    }
    try stacks.check(report, sample: sample, zombies: zombies)
    guard !isUnrecorded || (snapshotSignal == nil && kept.heap == nil && memory.snapshotAt == nil) else {
      throw ValidationError(
        "--zombie-mode sampled records nothing, so there is no snapshot and no heap: give --sample or --stacks, too")
    }
    guard sample == nil || !zombies.isOn || zombies.isSampled else {
      throw ValidationError(
        "--sample and --zombies do not go together: reports of zombies need the backtraces of all objects")
    }
  }

  /// True if nothing but a sample of the uses of dead objects is wanted.
  var isUnrecorded: Bool { zombies.isSampled && sample == nil && stacks.stacks == nil }

  static func parseSignal(_ text: String) throws -> Int32 {
    guard let number = SignalName.number(text), number != SIGKILL, number != SIGSTOP, number != SIGCHLD else {
      throw ValidationError("it is no signal that can be caught; give one such as USR1")
    }
    return number
  }

  func run() throws {
    let wanted = command.first == "--" ? command.dropFirst() : command[...]
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardError
    var report = report
    report.noStacks = stacks.leavesOut(report)
    let renderer = try ReportPipeline(options: report, verdict: verdict)
    try kept.checkWritable()
    let program = try ProgramLookup.find(wanted.first ?? "", path: System.environment("PATH"))
    let preflight = try Preflight(program: program, preloaded: System.environment("LD_PRELOAD") ?? "")
    let run = try ProgramRun(
      program: program, arguments: System.lastArguments(wanted.count), obstacle: obstacle(preflight), options: self,
      pipeline: renderer, sink: sink)
    throw ExitCode(try run.finish())
  }

  private func obstacle(_ preflight: Preflight) -> String? {
    if System.environment("UNDEAD") == "0" { return "UNDEAD=0 in the environment turns the instrument off" }
    return preflight.obstacle
  }
}
