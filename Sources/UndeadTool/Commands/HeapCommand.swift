import Glibc
import UndeadHeap
import UndeadHeapReport
import UndeadPage
import UndeadReport

/// A form that the answer of `undead heap` can have.
enum HeapFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, html, dot, pprof
}

extension HeapView: ExpressibleByArgument {}

/// `undead heap`: what is in memory, and who holds it.
struct HeapCommand: Command {
  static let help = CommandHelp(
    name: "heap",
    abstract: "Show what is in memory: by type, with what each type retains, and who retains it.",
    examples: [
      ("undead heap 4711", "a process; it stops for some milliseconds and goes on"),
      ("undead heap 4711 --type Session", "who holds sessions, and where they were allocated"),
      ("undead heap 4711 --save now.heap", "to compare later: undead diff before.heap now.heap"),
      ("undead heap core.4711 -f html -o heap.html", "a page to click through"),
    ],
    common: ["--by", "--type", "--address", "--top", "--format", "--output", "--save"],
    discussion: """
      PID is any program of this user, or any at all for root; it stops for some milliseconds. FILE is what --save, \
      'undead run --heap' or 'undead leaks --heap' wrote, or a core file.

      Retained bytes are what would be freed with the objects.

      Exit status: 0. 64: the command line is wrong, the file cannot be read, or nothing in it is what was asked for. \
      70: the heap of the process could not be taken.
      """)

  @Option(
    "--by <by>",
    help: "Rows of the table: type, module, site (the line that allocated), root, generation, descriptor or thread.",
    brief: "type, module, site (a line), root, generation, descriptor, thread")
  var by: HeapView = .type

  @Option(
    "--type <pattern>",
    help:
      "Tell of one type: who holds its objects, what they hold, where they were allocated. Its name, the last part of "
      + "it, or a pattern with '*'.", brief: "one type: 'Session', 'App.*'")
  var type: String?

  @Option("--address <address>", help: "Show the object that an address lies in.", brief: "the object at an address")
  var address: String?

  @Option("--top <rows>", help: "Most rows to show (of the text: 20).", brief: "so many rows, not 20")
  var top: Int?

  @Option("--min-bytes <bytes>", help: "Leave out rows that retain less.")
  var minBytes = 0

  @Flag(
    "--fold-storage/--no-fold-storage",
    help: "Count storage of collections, strings and Data with the objects that own it (text: on, other forms: off).")
  var foldStorage: Bool?

  @Option(
    "-f, --format <format>",
    help: """
      Form of the answer: text, json, html (one page with everything, which needs nothing else), dot (a graph for \
      Graphviz: who keeps the memory, or what is around a --type or --address) or pprof (a profile by allocation).
      """, brief: "text, json, html, dot or pprof")
  var format: HeapFormat = .text

  @OptionGroup var answer: AnswerFile

  @Flag("--no-stacks", help: "Leave out the backtraces in the text.")
  var noStacks = false

  @Option("--depth <frames>", help: "Most frames to show of each backtrace in the text.")
  var depth: Int?

  @Option("--color <color>", help: "Colour in the text: auto (on a terminal, unless NO_COLOR is set), always or never.")
  var color: DisplayOptions.Color = .auto

  @OptionGroup var check: CheckTime

  @Option(
    "--save <file>",
    help: "Of a process or core file: keep the heap in this file, for 'undead heap' and 'undead diff' on any machine.",
    brief: "keep the heap in a file", completion: .file)
  var save: String?

  @OptionGroup(title: "Core files") var core: CoreOptions

  @Argument("<file|pid>", help: "Heap file, core file, or process id.", completion: .ownProcessesAndFiles)
  var input = ""

  func validate() throws {
    if let top, top < 1 { throw ValidationError("--top \(top): give a number of rows, 1 or more") }
    if let depth, depth < 1 { throw ValidationError("--depth \(depth): give a number of frames, 1 or more") }
    if minBytes < 0 { throw ValidationError("--min-bytes \(minBytes): give a number of bytes, 0 or more") }
    if format == .html || format == .pprof, type != nil || address != nil {
      throw ValidationError("--format \(format): it holds the whole heap; leave out --type and --address")
    }
    if type != nil && address != nil { throw ValidationError("--type and --address: give one of them") }
    if let address, Self.number(address) == nil {
      throw ValidationError("--address \(address): give a hexadecimal address, as 0x7f12a4c01230")
    }
  }

  func run() throws {
    let sink = try answer.sink()
    if let save { try SnapshotFile.checkWritable(save) }
    let source = try HeapSource(input, timeout: check.timeout, core: core)
    if let save { try source.save(to: save) }
    let heap = try source.heap()
    if let pid = source.pid, heap.file.isBare {
      Message.say(
        "process \(pid) is not recorded, so no place of an allocation is known; 'undead record \(pid)' begins that")
    }
    switch format {
    case .text: try sink.write(try text(heap, source.symbolizer, sink).utf8)
    case .json: try sink.write(try json(heap, source.symbolizer))
    case .html, .dot, .pprof: try HeapDrawing(heap).write(format, subject, to: sink)
    }
  }

  private var subject: HeapDot.Subject {
    if let type { return .type(type) }
    return address.flatMap(Self.number).map { .address($0) } ?? .retained
  }

  private func text(_ heap: LoadedHeap, _ symbolizer: Symbolizer, _ sink: OutputSink) throws -> String {
    var options = ReportTextOptions(color: color.isUsed(terminal: sink.isTerminal), stacks: !noStacks)
    if let depth { options.depth = depth }
    options.directory = System.currentDirectory
    let report = try report(heap, symbolizer, foldsStorage: foldStorage ?? true, includesSites: by == .site)
    return HeapText.render(report, by: by, rows: top ?? 20, options: options)
  }

  private func json(_ heap: LoadedHeap, _ symbolizer: Symbolizer) throws -> [UInt8] {
    [UInt8](try report(heap, symbolizer, foldsStorage: foldStorage ?? false, includesSites: true).json())
  }

  private func report(
    _ heap: LoadedHeap, _ symbolizer: Symbolizer, foldsStorage: Bool, includesSites: Bool
  ) throws(ToolError) -> HeapReport {
    var options = HeapReportOptions()
    options.top = format == .text ? nil : top
    options.detailLimit = top
    options.minBytes = minBytes
    options.foldsStorage = foldsStorage
    options.includesSites = includesSites
    options.includesResources = format == .json || by == .descriptor || by == .thread
    if let type { options.subject = .type(type) }
    if let address = address.flatMap(Self.number) { options.subject = .address(address) }
    do {
      return try HeapReport(heap, options: options, tool: .init(version: UndeadCommand.version), symbolizer: symbolizer)
    } catch {
      throw .misuse("\(error)")
    }
  }

  private static func number(_ text: String) -> UInt64? {
    let digits = text.hasPrefix("0x") || text.hasPrefix("0X") ? text.dropFirst(2) : text[...]
    return UInt64(digits, radix: 16)
  }
}
