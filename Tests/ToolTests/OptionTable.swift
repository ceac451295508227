import Foundation

@testable import UndeadTool

/// The options of all commands, as the parser itself describes them.
struct OptionTable {
  struct Option: Equatable {
    var names: [String]
    /// True if the value is a path; of `--report` the part after the equals sign is.
    var isPath: Bool
  }

  private var options: [String: [Option]] = [:]

  static let ofThisTool = OptionTable(dump: UndeadCommand._dumpHelp())

  init(dump: String) {
    guard let help = try? JSONDecoder().decode(Dump.self, from: Data(dump.utf8)) else { return }
    for command in help.command.subcommands ?? [] {
      options[command.commandName] = (command.arguments ?? []).compactMap(Self.option)
    }
  }

  var commands: Set<String> { Set(options.keys) }

  /// - Parameter name: with dashes.
  func option(_ name: String, of command: String) -> Option? {
    options[command]?.first { $0.names.contains(name) }
  }

  // MARK: Dump

  private struct Dump: Decodable {
    struct Command: Decodable {
      var commandName: String
      var subcommands: [Command]?
      var arguments: [Argument]?
    }
    struct Argument: Decodable {
      var kind: String
      var names: [Name]?
      var valueName: String?
      var completionKind: [String: Details]?
    }
    struct Name: Decodable {
      var kind: String
      var name: String
    }
    struct Details: Decodable {}
    var command: Command
  }

  private static func option(_ argument: Dump.Argument) -> Option? {
    guard argument.kind != "positional", let names = argument.names else { return nil }
    let kinds = argument.completionKind ?? [:]
    return Option(
      names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name },
      isPath: kinds["file"] != nil || kinds["directory"] != nil || argument.valueName == "format=file")
  }
}
