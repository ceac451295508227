import ArgumentParser
import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// What all commands have in common: short options, quiet, completions, the version.
@Suite(.timeLimit(.minutes(20))) struct CommandLineTests {
  private static let table = OptionTable.ofThisTool

  /// The same letter is the same option everywhere, and wherever there is the option there is the letter.
  @Test func shortOptionsAreTheSameEverywhere() {
    #expect(Self.table.commands.count > 10)
    for command in Self.table.commands {
      for (long, short) in [("--output", "-o"), ("--format", "-f"), ("--verbose", "-v"), ("--quiet", "-q")] {
        #expect(Self.table.option(long, of: command) == Self.table.option(short, of: command), "\(command) \(long)")
      }
    }
    for option in ["-o", "-f", "-v", "-q"] { #expect(Self.table.option(option, of: "run") != nil) }
    for option in ["-o", "-f"] { #expect(Self.table.option(option, of: "heap") != nil) }
  }

  /// Its examples are commands that the tool takes, and it names no option that there is not.
  @Test(arguments: ShortHelp.all.map(\.verb))
  func theHelpOfAVerbFitsOnAScreen(_ verb: String) throws {
    let help = try #require(ShortHelp.asked(by: [verb, "--help"]))
    let lines = help.text.split(separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count <= 24, "\(lines.count) lines")
    for line in lines { #expect(line.count <= 100, "\(line)") }
    for (option, _) in help.options {
      let names = option.split(separator: ",").map { String($0.drop { $0 == " " }.prefix { $0 != " " }) }
      for name in names { #expect(Self.table.option(name, of: verb) != nil, "\(name)") }
    }
    for (command, _) in help.examples { #expect(command.hasPrefix("undead ")) }
    #expect(ShortHelp.asked(by: ["help", verb])?.text == help.text)
    #expect(ShortHelp.asked(by: [verb, "--", "--help"]) == nil)
  }

  @Test func everyVerbHasHelp() throws {
    #expect(Set(ShortHelp.all.map(\.verb)) == Self.table.commands.subtracting(["help"]))
    let sandbox = try Sandbox()
    #expect(try sandbox.undead("run", "--help-all").out.contains("--zombie-age"))
    #expect(try !sandbox.undead("run", "--help").out.contains("--zombie-age"))
  }

  @Test func optionsThatNameFilesAreCompletedAsSuch() {
    for (command, options) in [
      ("run", ["--output", "--suppressions", "--save", "--heap", "--report"]), ("leaks", ["--sysroot", "--binaries"]),
      ("heap", ["--output", "--save"]), ("watch", ["--output", "--heap"]),
    ] {
      for option in options { #expect(Self.table.option(option, of: command)?.isPath == true, "\(command) \(option)") }
    }
    #expect(Self.table.option("--format", of: "run")?.isPath == false)
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
    let names = ["run", "test", "heap", "help"]
    #expect(UnknownCommand.error(arguments, names: names)?.message == answer)
    #expect(throws: ValidationError.self) { try UndeadCommand.command(for: arguments) }
  }

  @Test func commandsAndOptionsAreNoUnknownCommands() {
    for arguments in [[], ["run"], ["help", "run"], ["--version"]] {
      #expect(UnknownCommand.error(arguments, names: ["run", "help"]) == nil, "\(arguments)")
    }
  }

  @Test(arguments: ["bash", "zsh", "fish"])
  func completionScripts(_ shell: String) throws {
    let sandbox = try Sandbox()
    let script = try sandbox.undead("--generate-completion-script", shell)
    #expect(script.status == 0)
    for word in ["record", "--zombie-mode", "--output"] {
      #expect(script.out.contains(word) || script.out.contains(word.dropFirst(2)), "\(word)")
    }
    guard shell == "bash" else { return }
    try sandbox.write(script.out, to: "undead.bash")
    func complete(_ words: String) throws -> [String] {
      let count = words.split(separator: " ", omittingEmptySubsequences: false).count - 1
      return try sandbox.command(
        [
          "bash", "-c",
          """
          PATH='\(sandbox.path("bin"))':$PATH; source undead.bash
          COMP_WORDS=(\(words.hasSuffix(" ") ? words + "''" : words)); COMP_CWORD=\(count)
          COMP_LINE='\(words)'; COMP_POINT=${#COMP_LINE}
          _undead undead "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" 2>/dev/null; printf '%s\\n' "${COMPREPLY[@]}"
          """,
        ]
      ).out.split(separator: "\n").map { $0.filter { $0 != " " } }
    }
    #expect(try complete("undead rec") == ["record"])
    #expect(try complete("undead run --zombie-mo") == ["--zombie-mode"])
    #expect(try Set(complete("undead run --format ")).isSuperset(of: ["text", "json"]))
    #expect(try complete("undead leaks ").contains(String(getpid())))
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
