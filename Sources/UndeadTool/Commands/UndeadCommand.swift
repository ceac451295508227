import Glibc
import UndeadAttach
import UndeadReport

/// The command line tool.
enum UndeadCommand {
  static var version: String { LeakReport.Tool.currentVersion }

  static let help = CommandHelp(
    name: "undead",
    abstract: "Finds Swift objects that are not deallocated when they should be, and the field that retains them.",
    discussion: """
      Start with:  undead run -- .build/debug/YourProgram

      For a package's tests:  undead test

      For a running program:  undead leaks PID, undead heap PID

      The program needs no change and no special build; debug information gives file and line.

      Exit status: the program's own if it is not 0, else 23 if leaks or zombies were found, else 0. \
      64: the command line is wrong. 70: the check could not be made.
      """)

  static let verbs: [any Command.Type] = [
    RunCommand.self, TestCommand.self, LeaksCommand.self, HeapCommand.self, TasksCommand.self, DiffCommand.self,
    WatchCommand.self, RecordCommand.self, MarkCommand.self, MergeCommand.self, DoctorCommand.self,
  ]

  static func verb(_ name: String?) -> (any Command.Type)? { verbs.first { $0.help.name == name } }

  /// What the command line asks for.
  ///
  /// - Throws: ``ValidationError``, or ``Answer``.
  static func command(for words: [String]) throws -> any Command {
    let word = words.first ?? "help"
    if let verb = verb(word) { return try verb.parse(Array(words.dropFirst())) }
    let names = verbs.map { $0.help.name } + ["help"]
    switch word.prefix(while: { $0 != "=" }) {
    case "help":
      guard let name = words.dropFirst().first(where: { !$0.hasPrefix("-") }) else { break }
      guard let verb = verb(name) else { throw UnknownWord.error([name], names: names) }
      throw Answer(text: HelpText.brief(verb))
    case "-h", "-help", "--help", "--help-all": break
    case "--version": throw Answer(text: version)
    case "--generate-completion-script":
      throw Answer(text: try CompletionScript.text(for: value(of: words) ?? CompletionScript.ownShell))
    case "--generate-manual":
      guard let page = ManualPage.text(of: value(of: words)) else {
        throw ValidationError("--generate-manual: name a command")
      }
      throw Answer(text: page)
    case "---complete":
      let index = words.count > 1 ? Int(words[1]) : nil
      throw Answer(text: CompletionAnswer(to: Array(words.dropFirst(2)), at: index ?? -1).lines.joined(separator: "\n"))
    default:
      throw word.hasPrefix("-") ? ValidationError("Unknown option '\(word)'") : UnknownWord.error(words, names: names)
    }
    throw Answer(text: HelpText.ofTool())
  }

  /// Of an option of the tool, which is alone.
  private static func value(of words: [String]) -> String? {
    let parts = words[0].split(separator: "=", maxSplits: 1)
    return parts.count > 1 ? String(parts[1]) : words.count > 1 ? words[1] : nil
  }
}

@main
enum Main {
  static func main() {
    Guardian.serve(CommandLine.arguments)
    Patient.serve(CommandLine.arguments)
    System.occupyClosedStandardStreams()
    // The Swift runtime reads them there: without it any command would be a call for help.
    if CommandLine.arguments.isEmpty {
      Message.say("there is no /proc, where a program's arguments and maps are read: mount it")
      exit(ExitStatus.toolFailure)
    }
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      try UndeadCommand.command(for: words).run()
    } catch let answer as Answer {
      Message.answer(lines: answer.text)
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch let error as ValidationError {
      Message.refuse(error, of: UndeadCommand.verb(words.first))
      exit(ExitStatus.misuse)
    } catch let error as ToolError {
      Message.say(TextLine(error.message))
      exit(error.status)
    } catch {
      Message.say("\(error)")
      exit(ExitStatus.toolFailure)
    }
  }
}
