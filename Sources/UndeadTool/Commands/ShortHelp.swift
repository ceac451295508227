/// The help of a verb on one screen: an example first, then the options that most calls need. `--help-all` has the others.
struct ShortHelp {
  let verb: String
  let purpose: String
  let examples: [(command: String, purpose: String)]
  /// As they are typed, with what they do.
  let options: [(option: String, effect: String)]

  /// The help that a command line asks for; nil if it asks for none, or for all of it.
  static func asked(by arguments: [String]) -> ShortHelp? {
    guard let verb = arguments.first else { return nil }
    if verb == "help" {
      return arguments.count == 2 ? all.first { $0.verb == arguments[1] } : nil
    }
    // What follows `--` is for a program.
    guard arguments.count == 2, ["-h", "-help", "--help"].contains(arguments[1]) else { return nil }
    return all.first { $0.verb == verb }
  }

  /// The verb whose every option a command line asks for.
  static func verbOfAll(_ arguments: [String]) -> String? {
    guard arguments.count == 2, let name = arguments.last == "--help-all" ? arguments.first : nil else { return nil }
    return all.contains { $0.verb == name } ? name : nil
  }

  var text: String {
    var lines = [purpose, ""]
    let width = (examples.map(\.command.count).filter { $0 <= 44 }.max() ?? 0) + 2
    for (command, purpose) in examples {
      lines.append("  \(command.count < width ? Self.padded(command, to: width) : "\(command)  ")\(purpose)")
    }
    lines.append("")
    let column = (options.map(\.option.count).max() ?? 0) + 2
    for (option, effect) in options { lines.append("  \(Self.padded(option, to: column))\(effect)") }
    lines += ["", "All options and exit statuses: undead \(verb) --help-all, or man undead.\(verb)"]
    return lines.joined(separator: "\n")
  }

  private static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  // MARK: Verbs

  private typealias Line = (option: String, effect: String)

  private static let format: Line = ("-f, --format FORM", ReportFormat.list)
  private static let output: Line = ("-o, --output FILE", "write the report to a file")
  private static let failOn: Line = ("--fail-on KINDS", "leaks, suspects, zombies, known, incomplete or none")
  private static let all20: Line = ("--all", "show every group, not the 20 worst")
  private static let suppressions: Line = ("--suppressions FILE", "leave out what a file lists")
  private static let baseline: Line = ("--baseline FILE", "report only what the file does not list (--update-baseline)")
  private static let stacks: Line = ("--stacks none", "record no backtraces, which is faster")
  private static let zombies: Line = ("--zombies", "report uses of deallocated objects, too")
  private static let save: Line = ("--save FILE", "keep what is reported, for 'undead leaks' and 'undead diff'")
  private static let heap: Line = ("--heap FILE", "keep the whole heap, for 'undead heap' and 'undead diff'")

  static let all: [ShortHelp] = [
    ShortHelp(
      verb: "run", purpose: "Runs a program and reports what it leaked when it ends.",
      examples: [
        ("undead run -- .build/debug/App --port 80", "the program keeps its output, signals and exit status"),
        ("undead run --zombies -- .build/debug/App", "uses of deallocated objects, too"),
        ("undead run --sample 512KiB -- .build/release/Server", "cheap enough for weeks"),
      ],
      options: [
        format, output, failOn, all20, suppressions, baseline, zombies, stacks,
        ("--sample SIZE", "record the backtraces of a sample, such as 512KiB"), save, heap,
        ("--snapshot-at MARK", "keep the heap when memory passes a mark, such as 80% or 1500MB"),
        ("--on-finding COMMAND", "run a command for each finding, with its report on standard input"),
      ]),
    ShortHelp(
      verb: "test", purpose: "Runs the tests of a package and reports what each of them leaked.",
      examples: [
        ("undead test", "XCTest and Swift Testing, unchanged"),
        ("undead test -- --filter LoaderTests", "arguments of 'swift test'"),
        ("undead test --format github --report sarif=leaks.sarif", "in CI"),
      ],
      options: [
        format, output, ("--report FORM=FILE", "write a further report"), failOn, all20, suppressions, baseline,
        zombies,
        stacks,
      ]),
    ShortHelp(
      verb: "leaks", purpose: "Shows what leaked: in a running program, a core file, a snapshot or a report.",
      examples: [
        ("undead leaks 4711", "a process; it stops for some milliseconds and goes on"),
        ("undead leaks 4711 --for 10min", "what grew meanwhile; Ctrl-C ends it with the answer"),
        ("undead leaks core.4711", "what a crashed program held"),
        ("undead leaks yesterday.undead", "what --save kept, or a report in JSON"),
      ],
      options: [
        format, output, failOn, all20, suppressions, baseline, save, heap,
        ("--for TIME", "check twice and show what grew: 30s, 10min, 2h"),
        ("--fail-on-growth RULE", "with --for: fail if this grew, such as 'App.*>100/h'"),
        ("--sysroot FOLDER", "of a core file from elsewhere: where its program's files are"),
      ]),
    ShortHelp(
      verb: "heap", purpose: "Shows what is in memory: by type, with what each type retains, and who retains it.",
      examples: [
        ("undead heap 4711", "a process; it stops for some milliseconds and goes on"),
        ("undead heap 4711 --type Session", "who holds sessions, and where they were allocated"),
        ("undead heap 4711 --save now.heap", "to compare later: undead diff before.heap now.heap"),
        ("undead heap core.4711 -f html -o heap.html", "a page to click through"),
      ],
      options: [
        ("--by VIEW", "type, module, site (the line that allocated), root or generation"),
        ("--type PATTERN", "one type: 'Session', 'App.*'"), ("--address ADDRESS", "the object at an address"),
        ("--top ROWS", "so many rows, not 20"), ("-f, --format FORM", "text, json, html, dot or pprof"), output,
        ("--save FILE", "keep the heap in a file"),
      ]),
    ShortHelp(
      verb: "tasks", purpose: "Shows all tasks: what they wait for, where, and who could resume them.",
      examples: [
        ("undead tasks 4711", "a process; it stops for some milliseconds and goes on"),
        ("undead tasks now.heap -f json", "of a heap that was saved"),
      ],
      options: [("--top GROUPS", "so many groups, not 20"), ("-f, --format FORM", "text or json"), output]),
    ShortHelp(
      verb: "diff", purpose: "Shows what grew between two heap files, or which findings are new between two reports.",
      examples: [
        ("undead diff before.heap after.heap", "the fields that hold more than before"),
        ("undead diff old.json new.json", "leaks that are new"),
      ],
      options: [
        format, output, failOn,
        ("--fail-on-growth RULE", "fail if this grew: any, 'App.*', '10MB/h', 'App.Session>100/min'"),
      ]),
    ShortHelp(
      verb: "watch", purpose: "Counts what is in memory every second, and shows what grows.",
      examples: [
        ("undead watch --for 10min -- .build/release/App", "starts the program and ends it"),
        ("undead watch 4711", "a process under 'undead run', until Ctrl-C"),
        ("undead watch --for 10min --fail-on-growth 'App.*>100/h' -- .build/release/App", "in CI"),
      ],
      options: [
        ("--for TIME", "how long"), ("--every TIME", "between two counts: 1s"),
        ("--warm-up TIME", "at the start, not judged; else a quarter"),
        ("--fail-on-growth RULE", "any, '10MB/h', '1000/min', 'App.Session>100/min'"),
        ("--heap FILE", "keep the heap of the last moment"), ("-f, --format FORM", "text or json"), output,
      ]),
    ShortHelp(
      verb: "record", purpose: "Records what a running program allocates, with backtraces.",
      examples: [
        ("undead record 4711", "from now on; then: undead heap 4711 --by site"),
        ("undead record 4711 --zombies", "watches one object in 1000 for uses after its death"),
        ("undead record 4711 --stop", "ends that"),
        ("undead record 4711 --for 10min", "what grew meanwhile, and which lines allocated it"),
      ],
      options: [
        ("--sample SIZE", "the backtraces of a sample only, such as 512KiB"),
        ("--zombie-rate N", "with --zombies: one object in so many"),
        ("--on-finding COMMAND", "with --zombies: run it for each use, with the report"),
        ("--fail-on-growth RULE", "with --for: fail if this grew"), format, output,
      ]),
    ShortHelp(
      verb: "mark", purpose: "Begins a new generation in a program under 'undead run'.",
      examples: [
        ("undead mark 4711 \"before request\"", "then send the request, and mark again"),
        ("undead heap 4711 --by generation", "what is left of it"),
      ],
      options: [("--timeout SECONDS", "how long to wait for the program")]),
    ShortHelp(
      verb: "merge", purpose: "Merges reports or heaps of many hosts, or parts of a test run, into one.",
      examples: [
        ("undead merge web1=a.undead web2=b.undead", "one finding, with the hosts that have it"),
        ("undead merge part*.json -f junit -o all.xml", "parts of a test run"),
      ],
      options: [format, output, failOn, all20]),
    ShortHelp(
      verb: "doctor", purpose: "Reports what does not work on this machine, and how to change that.",
      examples: [("undead doctor", "the machine"), ("undead doctor .build/debug/App", "and a program")],
      options: [("-f, --format FORM", "text or json"), output, ("-q, --quiet", "only what does not work")]),
  ]
}
