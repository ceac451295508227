import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// What all commands have in common: short options, help, completions, the version; and what is said of a wrong command line.
@Suite(.timeLimit(.minutes(20))) struct CommandLineTests {
  private static func option(_ name: String, of command: String) -> Declaration? {
    UndeadCommand.commands.verb(command)?.declarations.first { $0.names.contains(name) }
  }

  /// The same letter is the same option everywhere, and wherever there is the option there is the letter.
  @Test func shortOptionsAreTheSameEverywhere() {
    #expect(UndeadCommand.commands.verbs.count > 10)
    let letters = ["--output": "-o", "--format": "-f", "--verbose": "-v", "--quiet": "-q"]
    for option in UndeadCommand.commands.verbs.flatMap({ $0.declarations }) where !option.isOperand {
      let long = option.names.last ?? ""
      let hasInverse = option.names.count == 2 && long == "--no-\(option.names[0].dropFirst(2))"
      let short = hasInverse ? option.names[0] : letters[long]
      #expect(option.names == [short, long].compactMap(\.self))
    }
    for option in ["-o", "-f", "-v", "-q"] { #expect(Self.option(option, of: "run") != nil) }
    for option in ["-o", "-f"] { #expect(Self.option(option, of: "heap") != nil) }
  }

  /// An option that is declared twice could not be read.
  @Test(arguments: UndeadCommand.commands.verbs.map { $0.help.name })
  func eachNameIsDeclaredOnce(_ verb: String) throws {
    let names =
      try #require(UndeadCommand.commands.verb(verb)).declarations.flatMap(\.names)
      + ArgumentReader.Request.allCases.map { $0.rawValue }
    #expect(Set(names).count == names.count)
  }

  /// It names only options that there are, and has a few words on each.
  @Test(arguments: UndeadCommand.commands.verbs.map { $0.help.name })
  func theHelpOfAVerbFitsOnAScreen(_ verb: String) throws {
    let command = try #require(UndeadCommand.commands.verb(verb))
    let lines = HelpText.brief(command).split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 24, "\(lines.count) lines")
    for line in lines { #expect(line.count <= 110, "\(line)") }
    #expect(!command.help.common.isEmpty)
    for name in command.help.common { #expect(Self.option(name, of: verb)?.brief != nil, "\(name)") }
    for (example, _) in command.help.examples { #expect(example.hasPrefix("undead ")) }
  }

  /// Whatever is declared is in the help, in the manual and among the completions.
  @Test(arguments: UndeadCommand.commands.verbs.map { $0.help.name })
  func everyOptionIsDescribed(_ verb: String) throws {
    let command = try #require(UndeadCommand.commands.verb(verb))
    let help = HelpText.full(command)
    let page = try #require(ManualPage.text(of: verb, in: UndeadCommand.commands))
    let list = try #require(ManualPage.text(of: nil, in: UndeadCommand.commands))
    let offers = CompletionAnswer(to: ["undead", verb, "-"], at: 2, in: UndeadCommand.commands).lines
    for option in command.declarations {
      #expect(help.contains("  \(option.isOperand ? option.label(as: "") : option.label)"), "\(option.label)")
      for name in option.names {
        #expect(page.contains("Fl \(name.dropFirst())") || page.contains(", \(name.dropFirst())"), "\(name)")
        #expect(list.contains("`\(name)"), "\(name)")
        #expect(offers.contains { $0.hasPrefix("\(name)\t") }, "\(name)")
      }
    }
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) { #expect(!line.isEmpty) }
  }

  @Test func helpIsBriefOrWhole() throws {
    let sandbox = try Sandbox()
    #expect(try sandbox.undead("run", "--help-all").out.contains("--zombie-age"))
    for words in [["run", "--help"], ["run", "-h"], ["run", "-q", "-help", "--", "true"], ["help", "run"]] {
      let help = try sandbox.undead(list: words)
      #expect(help.status == 0 && help.out.contains("--zombies") && !help.out.contains("--zombie-age"), "\(words)")
    }
    for words in [[], ["help"], ["--help"], ["-h"]] {
      #expect(try sandbox.undead(list: words).out.contains("SUBCOMMANDS:"))
    }
    #expect(try sandbox.undead("heap", "--nothing", "--version").out == "\(UndeadCommand.version)\n")
  }

  @Test(arguments: [
    (
      ["run", "--format", "xml", "true"],
      "The value 'xml' is invalid for '--format <format>'; give one of: text, json, html"
    ),
    (["run", "-f", "x\ny", "true"], #"The value 'x\u{A}y' is invalid for '-f <format>'"#),
    (["run", "--top", "--", "true"], "Missing value for '--top <culprits>'\nHelp:  --top <culprits>  Show so many"),
    (
      ["run", "--sample", "x", "true"], "invalid for '--sample <bytes>': 'x': give a number with its unit, like 512KiB"
    ),
    (["run", "--all=1", "true"], "The option '--all' does not take any value, but '1' was specified."),
    (["run", "--halp", "true"], "Unknown option '--halp'. Did you mean '--help'?"),
    (["run", "--nothing", "true"], "'--nothing' is no option of 'undead run'; options of the program come after it"),
    (["run", "-qx", "true"], "'-qx' is no option of 'undead run'"), (["run"], "name a program to run"),
    (["run", "-qv", "true"], "--quiet and --verbose: give only one of them"),
    (["run", "--zombie-rate", "0", "true"], "--zombie-rate 0: give 1 or more"),
    (["test", "x"], "'x' is no option of 'undead test'; arguments of 'swift test' come after '--'"),
    (
      ["leaks", "--frmat=json", "x"],
      "Unknown option '--frmat'. Did you mean '--format'?\nUsage: undead leaks [options] PID\n  "
    ),
    (["leaks"], "Missing expected argument '<pid|file> ...'\nHelp:  <pid|file>  Process id"),
    (
      ["diff", "a", "b", "c"],
      "Unexpected argument 'c'\nUsage: undead diff [options] <old> <new>\n  See 'undead diff --help'"
    ),
    (["diff", "a", "b", "c", "d"], "2 unexpected arguments: 'c', 'd'"),
    (["heap", "--help=1"], "'--help' does not take any value"),
    (["run", "--help=1", "true"], "'--help' does not take any value"),
    (["mark", "x"], "The value 'x' is invalid for '<pid>'"),
    (["watch", "1", "--", "true"], "give a process id or a program, not both"),
    (["leaks", "1", "--fail-on-growth", ">", "--for", "1"], "'>' is no rule for growth"),
    (["help", "tset"], "did you mean 'undead test'?"),
    (["--nothing"], "Unknown option '--nothing'\nUsage: undead <subcommand>\n  See 'undead --help'"),
    (["--generate-completion-script", "tcsh"], "'tcsh'; give one of: bash, zsh, fish"),
  ])
  func aWrongCommandLineIsExplained(words: [String], answer: String) throws {
    let result = try Sandbox().undead(list: words)
    #expect(result.status == 64 && result.out.isEmpty)
    #expect(result.error.hasPrefix("Error: ") && result.error.contains(answer), "\(result.error)")
  }

  @Test func optionsThatNameFilesAreCompletedAsSuch() {
    for (command, options) in [
      ("run", ["--output", "--suppressions", "--save", "--heap"]), ("leaks", ["--sysroot", "--binaries"]),
      ("heap", ["--output", "--save"]), ("watch", ["--output", "--heap"]),
    ] {
      for option in options {
        let lines = CompletionAnswer(to: ["undead", command, option, ""], at: 3, in: UndeadCommand.commands).lines
        #expect(lines == ["\tfile"] || lines == ["\tdirectory"], "\(command) \(option)")
      }
    }
  }

  @Test func quietSaysNothingOfNothing() throws {
    let sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    let clean = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")]
    let leaking = ["FAKE_SNAPSHOT": try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")]
    #expect(try !sandbox.undead("run", "--", "true", environment: clean).error.isEmpty)
    let quiet = try sandbox.undead("run", "-q", "--", "true", environment: clean)
    #expect(quiet.error.isEmpty && quiet.status == 0)
    #expect(try sandbox.undead("run", "-q", "-f", "json", "true", environment: clean).error.hasPrefix("{"))
    let found = try sandbox.undead("run", "-q", "--", "true", environment: leaking)
    #expect(found.status == 23 && found.error.contains("App.Owner"))
    // What was not checked is no silence.
    let failed = try sandbox.undead("run", "-q", "--", "true", environment: ["FAKE_FAILURE": "no threads"])
    #expect(failed.status == 70 && !failed.error.isEmpty)
    #expect(try sandbox.undead("run", "-q", "-v", "--", "true").status == 64)
  }

  @Test(arguments: [
    (["tset"], "'tset' is no command of undead; did you mean 'undead test'?"),
    (["./app", "-v"], "'./app' is no command of undead; to check a program: undead run -- ./app -v"),
    (["app"], "'app' is no command of undead; 'undead help' lists them, and 'undead run -- app' checks a program"),
  ])
  func aWordThatIsNoCommandIsAnswered(arguments: [String], answer: String) {
    #expect(UnknownWord.error(arguments, names: ["run", "test", "heap", "help"]).message.plain == answer)
    #expect(throws: ValidationError.self) { try UndeadCommand.commands.command(for: arguments) }
  }

  @Test(arguments: [
    (["undead", "rec"], 1, ["record"]), (["undead", "help", "d"], 2, ["diff", "doctor"]),
    (["undead", "run", "--zombie-mo"], 2, ["--zombie-mode"]),
    (["undead", "run", "--format", "j"], 3, ["json", "junit"]),
    (["undead", "run", "--format=j"], 2, ["--format=json", "--format=junit"]),
    (["undead", "run", "--format", "=", "j"], 4, ["json", "junit"]), (["undead", "run", "-f", "h"], 3, ["html"]),
    (["undead", "run", "--format", "=", "json", "--output", "="], 6, [""]),
    (["undead", "run", "--output=a"], 2, [""]), (["undead", "run", "true", "--f"], 3, [""]),
    (["undead", "run", "--quiet", "--qui"], 3, []), (["undead", "run", "--report", "js"], 3, ["json="]),
    (["undead", "run", "--suppressions", "a", "--supp"], 4, ["--suppressions"]),
    (["undead", "watch", "--", "a"], 3, [""]), (["undead", "nothing", ""], 2, []), (["undead"], 7, []),
    (["undead", "--generate-completion-script", "b"], 2, ["bash"]),
  ])
  func completions(words: [String], index: Int, offers: [String]) {
    let lines = CompletionAnswer(to: words, at: index, in: UndeadCommand.commands).lines
    #expect(lines.map { String($0.prefix { $0 != "\t" }) } == offers)
  }

  /// scripts/check/install asks the shells.
  @Test(arguments: CompletionScript.shells)
  func completionScripts(_ shell: String) throws {
    let sandbox = try Sandbox()
    let script = try sandbox.undead("--generate-completion-script", shell)
    #expect(script.status == 0 && script.out.contains("---complete"))
    // An empty line would be an offer.
    #expect(try sandbox.undead("---complete", "3", "undead", "leaks", "--top", "").out == "")
    let asked = try sandbox.undead("---complete", "2", "undead", "leaks", "")
    #expect(asked.out.split(separator: "\n").contains(Substring(String(getpid()))) && asked.out.hasSuffix("\tfile\n"))
    guard shell == "bash" else { return }
    try sandbox.write(script.out, to: "undead.bash")
    let answers = try sandbox.command([
      "bash", "-c",
      """
      PATH='\(sandbox.path("bin"))':$PATH; source undead.bash
      COMP_WORDS=(undead run --format j); COMP_CWORD=3; _undead; printf '%s ' "${COMPREPLY[@]}"
      COMP_WORDS=(undead heap undead.b); COMP_CWORD=2; _undead; printf '%s ' "${COMPREPLY[@]}"
      """,
    ])
    #expect(answers.out == "json junit undead.bash ")
  }

  /// The sources have the version once, in C; what is written of it must be the same.
  @Test func theVersionIsThatOfTheChanges() throws {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    func text(_ path: String) throws -> String {
      try String(contentsOf: root.appending(path: path), encoding: .utf8)
    }
    let heading = try #require(text("CHANGELOG.md").split(separator: "\n").first { $0.hasPrefix("## ") })
    #expect(heading.split(separator: " ")[1] == UndeadCommand.version)
    let header = try text("Sources/CUndeadInterface/include/undead_version.h")
    #expect(header.contains("#define UNDEAD_VERSION \"\(UndeadCommand.version)\""))
    #expect(try Sandbox().undead("--version").out == "\(UndeadCommand.version)\n")
    #expect(LeakReport.Tool().version == UndeadCommand.version)
  }
}
