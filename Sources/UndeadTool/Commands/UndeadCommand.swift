import Glibc
import UndeadAttach
import UndeadReport

/// The command line tool.
enum UndeadCommand {
  static var version: String { LeakReport.Tool.currentVersion }

  static let commands = CommandSet(
    help: CommandHelp(
      name: "undead",
      abstract: "Finds Swift objects that are not deallocated when they should be, and the field that retains them.",
      discussion: """
        Start with:  undead run -- .build/debug/YourProgram

        For a package's tests:  undead test

        For a running program:  undead leaks PID, undead heap PID

        The program needs no change and no special build; debug information gives file and line.

        Exit status: the program's own if it is not 0, else 23 if leaks or zombies were found, else 0. \
        64: the command line is wrong. 70: the check could not be made.
        """),
    version: version,
    verbs: [
      RunCommand.self, TestCommand.self, LeaksCommand.self, HeapCommand.self, TasksCommand.self, DiffCommand.self,
      WatchCommand.self, RecordCommand.self, MarkCommand.self, MergeCommand.self, DoctorCommand.self,
    ])
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
      try UndeadCommand.commands.command(for: words).run()
    } catch let answer as Answer {
      Message.answer(lines: answer.text)
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch let error as ValidationError {
      let text = HelpText.refusal(error, UndeadCommand.commands.verb(words.first))
      _ = System.write(Array("\(text)\n".utf8), to: STDERR_FILENO)
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
