import UndeadHeap
import UndeadHeapReport
import UndeadReport

/// `undead tasks`: which tasks there are, and what each waits for.
struct TasksCommand: Command {
  static let help = CommandHelp(
    name: "tasks",
    abstract: "Show all tasks: what they wait for, where, and who could resume them.",
    examples: [
      ("undead tasks 4711", "a process; it stops for some milliseconds and goes on"),
      ("undead tasks now.heap -f json", "of a heap that was saved"),
    ],
    common: ["--top", "--format", "--output"],
    discussion: """
      PID is any program of this user, or any at all for root; it stops for some milliseconds. FILE is what \
      'undead heap --save', 'undead run --heap' or 'undead leaks --heap' wrote, or a core file.

      Tasks that do the same at one place are one group; the worst first: those that nothing leads to, those whose owner is \
      gone, then those that retain most.

      Exit status: 0. 64: the command line is wrong, or the file cannot be read. 70: the heap of the process could not be \
      taken.
      """)

  @Option("--top <groups>", help: "Most groups to show in the text (20).", brief: "so many groups, not 20")
  var top: Int?

  @Option("-f, --format <format>", help: "Form of the answer: text or json.", brief: "text or json")
  var format: AnswerFormat = .text

  @OptionGroup var answer: AnswerFile

  @Option("--color <color>", help: "Colour in the text: auto (on a terminal, unless NO_COLOR is set), always or never.")
  var color: DisplayOptions.Color = .auto

  @OptionGroup var check: CheckTime

  @OptionGroup(title: "Core files") var core: CoreOptions

  @Argument("<file|pid>", help: "Heap file, core file, or process id.", completion: .ownProcessesAndFiles)
  var input = ""

  func validate() throws {
    if let top, top < 1 { throw ValidationError("--top \(top): give a number of groups, 1 or more") }
  }

  func run() throws {
    let sink = try answer.sink()
    let source = try HeapSource(input, for: .tasks, timeout: check.timeout, core: core)
    let report = TaskReport(
      try source.heap(), tool: .init(version: UndeadCommand.version), symbolizer: source.symbolizer)
    switch format {
    case .json: try sink.write(try report.json())
    case .text:
      var options = ReportTextOptions(color: color.isUsed(terminal: sink.isTerminal))
      options.directory = System.currentDirectory
      try sink.write(TaskText.render(report, rows: top ?? 20, options: options).utf8)
    }
  }
}
