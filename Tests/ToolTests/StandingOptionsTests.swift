import Foundation
import Testing

@testable import UndeadTool

/// Options of `.undead.options` and `UNDEAD_OPTIONS`.
@Suite(.timeLimit(.minutes(20))) struct StandingOptionsTests {
  private let sandbox: Sandbox
  private let leaking: [String: String]

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    leaking = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")]
  }

  private func options(_ file: String, for command: String) throws -> [String] {
    var options = StandingOptions()
    try options.add(file: file, path: "/p/.undead.options", command: command, table: .ofThisTool)
    return options.arguments
  }

  private func options(words: String, for command: String) throws -> [String] {
    var options = StandingOptions()
    try options.add(words: words, command: command, table: .ofThisTool)
    return options.arguments
  }

  @Test func linesAreOptionsOfTheCommandsThatHaveThem() throws {
    let file = """
      # for all
      --format json
      --stacks=none

      -q
      run --zombies
      test --report junit=build/leaks.xml
      --suppressions  with blanks.supp
      heap --by site
      --fail-on leaks, suspects
      """
    #expect(
      try options(file, for: "run") == [
        "--format=json", "--stacks=none", "-q", "--zombies", "--suppressions=/p/with blanks.supp",
        "--fail-on=leaks, suspects",
      ])
    #expect(
      try options(file, for: "test") == [
        "--format=json", "--stacks=none", "-q", "--report=junit=/p/build/leaks.xml",
        "--suppressions=/p/with blanks.supp", "--fail-on=leaks, suspects",
      ])
    #expect(try options(file, for: "heap") == ["--format=json", "--by=site"])
    #expect(try options(file, for: "mark") == [])
  }

  @Test(arguments: [
    ("--format json\n--formt json", ":2: '--formt' is no option"), ("format json", ":1: 'format' is neither"),
    ("--format", ":1: --format needs a value"), ("--all yes", ":1: --all takes no value"),
    ("--help", ":1: '--help' is no option that can stand here"), ("run --by site", "'undead run' has no option '--by'"),
    ("--", "is no option"),
  ])
  func mistakesNameTheLine(_ file: String, _ words: String) {
    let error = #expect(throws: ToolError.self) { try options(file, for: "run") }
    #expect(error?.status == 64)
    #expect(error?.message.contains(words) ?? false, "\(error?.message ?? "")")
    #expect(error?.message.hasPrefix("/p/.undead.options:") ?? false)
  }

  @Test func wordsOfTheVariable() throws {
    #expect(
      try options(words: "--format json -o 'a b' --by site --zombies --zombie-mode=guard --depth=3", for: "run")
        == ["--format=json", "--output=a b", "--zombies", "--zombie-mode=guard", "--depth=3"])
    #expect(throws: ToolError.self) { try options(words: "json", for: "run") }
    #expect(StandingOptions.split(#" a  "b 'c'" d''e '' "#) == ["a", "b 'c'", "de", ""])
  }

  @Test func theCommandLineHasTheLastWord() throws {
    try sandbox.write("--format github\n", to: ".undead.options")
    #expect(try sandbox.undead("run", "--", "true", environment: leaking).error.contains("::error"))
    let variable = leaking.merging(["UNDEAD_OPTIONS": "--format=json"]) { $1 }
    #expect(try sandbox.undead("run", "--", "true", environment: variable).error.hasPrefix("{"))
    let asked = try sandbox.undead("run", "-f", "text", "true", environment: variable)
    #expect(asked.error.contains("LEAK") || asked.error.contains("leak"))
    #expect(!asked.error.contains("::error") && !asked.error.hasPrefix("{"))
    for arguments in [["run", "--no-config", "--", "true"], ["run", "--no-config", "true"]] {
      let none = try sandbox.undead(list: arguments, environment: variable)
      #expect(!none.error.contains("::error") && !none.error.hasPrefix("{") && none.status == 23)
    }
    // The program's own.
    let passed = try sandbox.undead("run", "echo", "--no-config", environment: variable)
    #expect(passed.out == "--no-config\n" && passed.error.hasPrefix("{"))
  }

  @Test func isFoundUpToTheRootOfThePackage() throws {
    for folder in ["package/Sources/App", "package/Plain"] {
      try FileManager.default.createDirectory(
        at: sandbox.directory.appending(path: folder), withIntermediateDirectories: true)
    }
    try sandbox.write("", to: "package/Package.swift")
    try sandbox.write("--format json", to: ".undead.options")
    let inside = sandbox.path("package/Sources/App")
    #expect(ProjectFiles.nearest(".undead.options", from: inside) == nil)
    try sandbox.write("--format github\n--output report", to: "package/.undead.options")
    #expect(ProjectFiles.nearest(".undead.options", from: inside) == sandbox.path("package/.undead.options"))
    #expect(ProjectFiles.nearest(".undead.options", from: sandbox.path("bin")) == nil)
    let output = try sandbox.command(
      ["sh", "-c", "cd '\(inside)' && '\(sandbox.path("bin/undead"))' run -- true"], environment: leaking)
    #expect(output.error.isEmpty, "\(output.error)")
    // What it names lies beside it.
    #expect(try String(contentsOfFile: sandbox.path("package/report"), encoding: .utf8).contains("::error"))
  }

  @Test func whatDoesNotFitIsBlamedOnItsLine() throws {
    try sandbox.write("--depth 5\n--zombie-bytes much\n", to: ".undead.options")
    let value = try sandbox.undead("run", "--", "touch", "ran")
    #expect(value.status == 64)
    #expect(value.error.contains(".undead.options:2: "), "\(value.error)")
    try sandbox.write("--depth 5\n--all\n", to: ".undead.options")
    let conflict = try sandbox.undead("run", "--top", "3", "--", "touch", "ran")
    #expect(conflict.status == 64)
    #expect(conflict.error.contains(".undead.options:2: --all and --top"), "\(conflict.error)")
    let own = try sandbox.undead("run", "--depth", "0", "--", "touch", "ran")
    #expect(own.status == 64)
    #expect(!own.error.contains(".undead.options"), "\(own.error)")
    #expect(!FileManager.default.fileExists(atPath: sandbox.path("ran")))
    let help = try sandbox.undead("run", "--help")
    #expect(help.status == 0 && help.out.contains("undead run --"))
  }

  @Test func noneOfItIsReadWhereThereIsNone() throws {
    #expect(try StandingOptions.load(for: ["run", "--", "true"]) == StandingOptions())
  }
}
