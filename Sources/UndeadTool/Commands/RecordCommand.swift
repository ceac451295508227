import Glibc
import UndeadHeap
import UndeadReport

/// `undead record`: gives a running program the recorder, and takes it out of use again.
struct RecordCommand: Command {
  static let help = CommandHelp(
    name: "record",
    abstract: "Record what a running program allocates, with backtraces.",
    examples: [
      ("undead record 4711", "from now on; then: undead heap 4711 --by site"),
      ("undead record 4711 --zombies", "watches one object in 1000 for uses after its death"),
      ("undead record 4711 --stop", "ends that"),
      ("undead record 4711 --for 10min", "what grew meanwhile, and which lines allocated it"),
    ],
    common: ["--sample", "--zombie-rate", "--on-finding", "--fail-on-growth", "--format", "--output"],
    discussion: """
      The recorder is put into the program. What the program allocates from then on has backtraces in 'undead leaks' and \
      'undead heap'. --stop takes it out of use; its library stays in the program.

      With --for it records for so long, and shows what grew meanwhile and which lines allocated it. Ctrl-C ends that early, \
      with the answer.

      With --zombies one object in many is watched for uses after its death, and nothing is recorded; 'undead leaks PID' \
      shows what was found. With --for or --on-finding the tool stays until the time is over, the program ends or Ctrl-C, and \
      reports.

      Needs the same user or root, and ptrace: in a container the capability SYS_PTRACE.

      Exit status: 0; with --for as 'undead leaks --for'. 64: the command line is wrong, or the process cannot be recorded. \
      70: it failed.
      """)

  @Flag("--stop", help: "End the recording.")
  var stop = false

  @Option(
    "--sample <size>", help: "Keep the backtraces of a sample only, one for so many bytes on average (such as 512KiB).",
    brief: "the backtraces of a sample only, such as 512KiB", transform: SampleSetting.parse)
  var sample: SampleSetting?

  @OptionGroup(title: "Zombies") var zombies: SampledZombieOptions
  @OptionGroup var findings: FindingOptions

  @OptionGroup var growth: GrowthOptions

  @OptionGroup(title: "Report of --for") var report: DisplayOptions
  @OptionGroup(title: "Verdict of --for") var verdict: VerdictOptions

  @Option("--heap <file>", help: "With --for: keep the heap of the last moment in this file.", completion: .file)
  var heap: String?

  @Option("--timeout <seconds>", help: "How long a check may take.")
  var timeout = ProcessSnapshot.copyTimeout

  @Argument("<pid>", help: "Process id of the program.", completion: .ownProcesses)
  var pid: Int32 = 0

  func validate() throws {
    try AskedProgram.check(pid: pid)
    try AskedProgram.check(timeout: timeout)
    try growth.validate(with: report, nil)
    if stop, sample != nil || growth.duration != nil || heap != nil || zombies.isOn || findings.onFinding != nil {
      throw ValidationError("--stop only ends a recording: give no other option with it")
    }
    if findings.onFinding != nil, !zombies.isOn {
      throw ValidationError("--on-finding: a recording finds nothing while it runs; give --zombies, too")
    }
    if zombies.isOn, growth.duration != nil || findings.onFinding != nil {
      let others = [
        ("--sample", sample != nil), ("--heap", heap != nil), ("--fail-on-growth", !growth.failOnGrowth.isEmpty),
      ]
      if let option = others.first(where: \.1)?.0 {
        throw ValidationError(
          "\(option): with --zombies, --for shows uses of dead objects, not what grew; leave it out")
      }
    }
    if heap != nil, growth.duration == nil {
      throw ValidationError(
        "--heap: a recording keeps no heap; give --for TIME, or use 'undead heap PID --save FILE' later")
    }
  }

  func run() throws {
    if stop { return try LiveRecorder(pid: pid).end() }
    if zombies.isOn { return try lookForZombies() }
    guard let duration = growth.duration else { return try LiveRecorder(pid: pid, sample: sample).begin() }
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    if let heap { try SnapshotFile.checkWritable(heap, option: "--heap") }
    let recorder = LiveRecorder(pid: pid, sample: sample)
    try recorder.beginForAWhile()
    defer { recorder.endQuietly() }
    throw ExitCode(
      try LiveGrowth(pid: pid, duration: duration, options: growth, heap: heap, timeout: timeout).show(pipeline, sink))
  }

  private func lookForZombies() throws {
    let recorder = LiveRecorder(pid: pid, sample: sample, zombies: zombies.sample)
    guard growth.duration != nil || findings.onFinding != nil else { return try recorder.begin() }
    let sink = try report.output.map { try OutputSink(file: $0) } ?? .standardOutput
    let pipeline = try ReportPipeline(options: report, verdict: verdict)
    try recorder.beginForAWhile()
    defer { recorder.endQuietly() }
    let zombies = LiveZombies(pid: pid, findings: findings, saysLines: report.leavesStandardErrorToMessages)
    throw ExitCode(try zombies.show(for: growth.duration, pipeline, sink))
  }
}
