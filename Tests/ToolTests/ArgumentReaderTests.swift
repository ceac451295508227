import Testing
import UndeadReport

@testable import UndeadTool

/// The rules by which words are read, on commands of its own.
@Suite struct ArgumentReaderTests {
  struct Group: ParsableArguments {
    @Option("--depth <frames>", help: "") var depth = 1

    func validate() throws {
      if depth == 0 { throw ValidationError("no depth") }
    }
  }

  struct Sample: Command {
    static let help = CommandHelp(name: "sample", abstract: "", discussion: "")

    @OptionGroup(title: "Group") var group: Group
    @Option("-n, --number <number>", help: "") var number: Int?
    @Option("--name <name>", help: "") var name = "none"
    @Option("--each <value>", help: "") var each: [String] = []
    @Option("--size <size>", help: "", transform: ZombieOptions.parseSize) var size: UInt64 = 0
    @Flag("-a, --all", help: "") var all = false
    @Flag("-q, --quiet", help: "") var quiet = false
    @Flag("--fold/--no-fold", help: "") var fold: Bool?
    @Argument("<first>", help: "") var first = ""
    @Argument("[<second>]", help: "") var second: Int32?
    @Argument("[<command> ...]", words: .afterTerminator, help: "") var command: [String] = []

    func run() {}

    /// What is not as it was declared.
    var values: [String] {
      var values: [String] = []
      if group.depth != 1 { values.append("depth=\(group.depth)") }
      if let number { values.append("number=\(number)") }
      if name != "none" { values.append("name=\(name)") }
      values += each.map { "each=\($0)" }
      if size > 0 { values.append("size=\(size)") }
      if all { values.append("all") }
      if quiet { values.append("quiet") }
      if let fold { values.append("fold=\(fold)") }
      return values + [first] + (second.map { ["\($0)"] } ?? []) + command.map { "command=\($0)" }
    }
  }

  @Test(arguments: [
    (["a"], ["a"]), (["a", "7"], ["a", "7"]), (["a", "+7"], ["a", "7"]), ([""], [""]), (["-"], ["-"]), (["ü"], ["ü"]),
    (["--number", "5", "a"], ["number=5", "a"]), (["a", "--number=5"], ["number=5", "a"]),
    (["-n", "5", "a"], ["number=5", "a"]),
    (["-n5", "a"], ["number=5", "a"]), (["-n=5", "a"], ["number=5", "a"]), (["--number=-5", "a"], ["number=-5", "a"]),
    (["-n", "1", "-n", "2", "a"], ["number=2", "a"]), (["--name=", "a"], ["name=", "a"]),
    (["--name", "", "a"], ["name=", "a"]),
    (["--name", "-", "a"], ["name=-", "a"]), (["--name=a=b", "x"], ["name=a=b", "x"]),
    (["--name=--all", "a"], ["name=--all", "a"]),
    (["--each", "1", "a", "--each=2"], ["each=1", "each=2", "a"]), (["--size", "4KB", "a"], ["size=4096", "a"]),
    (["-aq", "a"], ["all", "quiet", "a"]), (["-qn", "5", "a"], ["number=5", "quiet", "a"]),
    (["-qan5", "a"], ["number=5", "all", "quiet", "a"]),
    (["-a", "-a", "a"], ["all", "a"]), (["--fold", "a"], ["fold=true", "a"]),
    (["--fold", "--no-fold", "a"], ["fold=false", "a"]),
    (["a", "--", "b", "--all", "--"], ["a", "command=b", "command=--all", "command=--"]),
    (["--depth", "3", "a"], ["depth=3", "a"]),
  ])
  func words(_ words: [String], _ values: [String]) throws {
    #expect(try Sample.parse(words).values == values)
  }

  @Test(arguments: [
    ([], "Missing expected argument '<first>'"), (["--", "a"], "Missing expected argument '<first>'"),
    (["a", "x"], "The value 'x' is invalid for '<second>'"), (["a", "1", "2"], "Unexpected argument '2'"),
    (["a", "1", "2", "3\n"], #"2 unexpected arguments: '2', '3\u{A}'"#),
    (["--number"], "Missing value for '--number <number>'"),
    (["--number", "-5", "a"], "Missing value for '--number <number>'"), (["-an"], "Missing value for '-n <number>'"),
    (["--number", "x", "a"], "The value 'x' is invalid for '--number <number>'"),
    (["--number=99999999999999999999", "a"], "The value '99999999999999999999' is invalid for '--number <number>'"),
    (
      ["--size", "x", "a"], "The value 'x' is invalid for '--size <size>': 'x': give a number with its unit, like 64MB"
    ),
    (["--all=yes", "a"], "The option '--all' does not take any value, but 'yes' was specified."),
    (["--nubmer", "1", "a"], "Unknown option '--nubmer'. Did you mean '--number'?"),
    (["--xyz"], "Unknown option '--xyz'"),
    (["-x", "a"], "Unknown option '-x'"), (["-ax", "a"], "Unknown option '-x'"),
    (["-xa", "a"], "Unknown option '-xa'"),
    (["-5"], "Unknown option '-5'"), (["--all\u{1B}"], #"Unknown option '--all\u{1B}'. Did you mean '--all'?"#),
    (["--depth", "0", "a"], "no depth"),
  ])
  func mistakes(_ words: [String], _ message: String) {
    let error = #expect(throws: ValidationError.self) { try Sample.parse(words) }
    #expect(error?.message.plain == message)
  }

  @Test(arguments: ["-h", "-help", "--help", "--help-all", "--version"])
  func helpComesFirst(_ name: String) {
    for words in [[name], ["--nothing", name], ["--number", name], ["a", "b", "c", name, "--", "x"]] {
      #expect(throws: ArgumentReader.Request.self) { try Sample.parse(words) }
    }
    #expect(throws: Never.self) { try Sample.parse(["a", "--", name]) }
    #expect(throws: Never.self) { try Sample.parse(["--name=\(name)", "a"]) }
  }

  /// A command that hands words on has its own options before them.
  struct Passing: Command {
    static let help = CommandHelp(name: "passing", abstract: "", discussion: "")

    @Option("-f, --format <format>", help: "") var format = "text"
    @Flag("-q, --quiet", help: "") var quiet = false
    @Argument("[<command> ...]", words: .rest, help: "") var command: [String] = []

    func run() {}
  }

  @Test(arguments: [
    ([], []), (["-q"], []), (["-q", "a", "-q", "--", "b"], ["a", "-q", "--", "b"]), (["--", "-q"], ["--", "-q"]),
    (["--x", "-q"], ["--x", "-q"]),
    (["-qx", "a"], ["-qx", "a"]), (["-f", "json", "-", "b"], ["-", "b"]),
    (["-qfjson", "a", "--help"], ["a", "--help"]), (["", "a"], ["", "a"]),
    (["--format=x", "--", "--", "--format=y"], ["--", "--", "--format=y"]),
  ])
  func theRestIsHandedOn(_ words: [String], _ command: [String]) throws {
    #expect(try Passing.parse(words).command == command)
  }

  @Test func helpOfWhatHandsOn() {
    for words in [["--help"], ["-q", "-h", "a"]] {
      #expect(throws: ArgumentReader.Request.self) { try Passing.parse(words) }
    }
    #expect(throws: ValidationError.self) { try Passing.parse(["--format", "--help"]) }
    #expect(throws: ValidationError.self) { try Passing.parse(["--fromat", "a"]) }
  }

  /// A copy of a command whose option is set leaves the other one.
  @Test func commandsAreValues() throws {
    let first = try Sample.parse(["a", "--name", "x"])
    var second = first
    second.name = "y"
    second.group.depth = 9
    #expect(first.values == ["name=x", "a"] && second.values == ["depth=9", "name=y", "a"])
    #expect(try Sample.parse(["a"]).values == ["a"])
  }

  @Test func declarations() {
    let declarations = Sample.declarations
    #expect(declarations.map(\.names).prefix(3) == [["--depth"], ["-n", "--number"], ["--name"]])
    #expect(declarations.map(\.title).prefix(2) == ["Group", nil])
    #expect(declarations.map { $0.initialText() }.prefix(5) == ["1", "", "none", "", ""])
    #expect(declarations.filter(\.isOperand).map(\.isOptional) == [false, true, true])
    #expect(HelpText.usage(Sample.self) == "undead sample [options] <first> [<second>] [<command> ...]")
  }

  @Test(arguments: [(50, 3), (200, 1)])
  func helpIsAsWideAsTheTerminal(_ width: Int, _ lines: Int) {
    let text = HelpText.wrapped(
      "one two three four five six seven eight nine ten eleven twelve", indent: 26, width: width)
    let parts = text.split(separator: "\n")
    #expect(
      parts.count == lines && parts.allSatisfy { $0.count < width && $0.hasPrefix(String(repeating: " ", count: 26)) })
  }
}
