import ArgumentParser
import Glibc
import UndeadAttach
import UndeadReport

/// The command line tool.
struct UndeadCommand: ParsableCommand {
  static var version: String { LeakReport.Tool.currentVersion }

  static let configuration = CommandConfiguration(
    commandName: "undead",
    abstract: "Finds Swift objects that are not deallocated when they should be, and the field that retains them.",
    discussion: """
      Start with:  undead run -- .build/debug/YourProgram

      For a package's tests:  undead test

      For a running program:  undead leaks PID, undead heap PID

      The program needs no change and no special build; debug information gives file and line.

      Exit status: the program's own if it is not 0, else 23 if leaks or zombies were found, else 0. \
      64: the command line is wrong. 70: the check could not be made.
      """,
    version: version,
    subcommands: [
      RunCommand.self, TestCommand.self, LeaksCommand.self, HeapCommand.self, TasksCommand.self, DiffCommand.self,
      WatchCommand.self, RecordCommand.self, MarkCommand.self, MergeCommand.self, DoctorCommand.self,
    ])

  /// What the command line asks for.
  static func command(for arguments: [String]) throws -> any ParsableCommand {
    if let plain = PlainCommand.command(for: arguments) { return plain }
    let verb = configuration.subcommands.first { $0.configuration.commandName == arguments.first }
    // All that the parser prepares for every level takes as long as the rest of a short run. Only it words errors.
    if let verb, let command = try? verb.parse(Array(arguments.dropFirst())) { return command }
    if verb == nil, let error = UnknownCommand.error(arguments, names: commandNames) { throw error }
    return try parseAsRoot(arguments)
  }

  private static var commandNames: [String] {
    configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
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
    if let help = ShortHelp.asked(by: words) {
      Message.answer(lines: help.text)
      exit(0)
    }
    if let verb = ShortHelp.verbOfAll(words) { UndeadCommand.main([verb, "--help"]) }
    do {
      var command = try UndeadCommand.command(for: Array(CommandLine.arguments.dropFirst()))
      try command.run()
    } catch let code as ExitCode {
      exit(code.rawValue)
    } catch let error as ToolError {
      Message.say(TextLine(error.message))
      exit(error.status)
    } catch {
      // Help and completions are the tool's own text.
      guard UndeadCommand.exitCode(for: error) != .success else { UndeadCommand.exit(withError: error) }
      let text = Message.problem(UndeadCommand.fullMessage(for: error), quoting: CommandLine.arguments)
      if !text.isEmpty { _ = System.write(Array("\(text)\n".utf8), to: STDERR_FILENO) }
      exit(UndeadCommand.exitCode(for: error).rawValue)
    }
  }
}
