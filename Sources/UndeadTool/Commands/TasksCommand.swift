import ArgumentParser
import UndeadHeap
import UndeadReport

/// A form that the answer of `undead tasks` can have.
enum TasksFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json
}

/// `undead tasks`: which tasks there are, and what each waits for.
struct TasksCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "Show all tasks: what they wait for, where, and who could resume them.",
    discussion: """
      Example:  undead tasks 4711

      PID is any program of this user, or any at all for root; it stops for some milliseconds. FILE is what \
      'undead heap --save', 'undead run --heap' or 'undead leaks --heap' wrote, or a core file.

      Tasks that do the same at one place are one group; the worst first: those that nothing leads to, those whose owner is \
      gone, then those that retain most.

      Exit status: 0. 64: the command line is wrong, or the file cannot be read. 70: the heap of the process could not be \
      taken.
      """)

  @Option(help: ArgumentHelp("Most groups to show in the text (20).", valueName: "groups"))
  var top: Int?

  @Option(name: .shortAndLong, help: "Form of the answer: text or json.")
  var format: TasksFormat = .text

  @Option(
    name: .shortAndLong,
    help: ArgumentHelp("Write the answer to a file instead of the terminal.", valueName: "file"),
    completion: .file())
  var output: String?

  @Option(help: "Colour in the text: auto (on a terminal, unless NO_COLOR is set), always or never.")
  var color: DisplayOptions.Color = .auto

  @Option(
    help: ArgumentHelp(
      "How long a check of a process may take; else 30, or 120 if it is not recorded.", valueName: "seconds"))
  var timeout: Double?

  @OptionGroup(title: "Core files") var core: CoreOptions

  @OptionGroup var common: CommonOptions

  @Argument(
    help: ArgumentHelp("Heap file, core file, or process id.", valueName: "file|pid"), completion: .ownProcessesAndFiles
  )
  var input: String

  func validate() throws {
    if let top, top < 1 { throw ValidationError("--top \(top): give a number of groups, 1 or more") }
    if let timeout { try AskedProgram.check(timeout: timeout) }
  }

  func run() throws {
    let sink = try output.map { try OutputSink(file: $0) } ?? .standardOutput
    let source = try HeapSource(input, for: .tasks, timeout: timeout, core: core)
    let report = TaskReport(
      try source.heap(), tool: .init(version: UndeadCommand.version), symbolizer: source.symbolizer)
    switch format {
    case .json: try sink.write(try report.json())
    case .text:
      var options = TextOptions(color: color.isUsed(terminal: sink.isTerminal))
      options.directory = System.currentDirectory
      try sink.write(TaskText.render(report, rows: top ?? 20, options: options).utf8)
    }
  }
}
