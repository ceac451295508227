import ArgumentParser

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The options of all commands, as the parser itself describes them.
struct OptionTable {
  struct Option: Equatable {
    var names: [String]
    var takesValue: Bool
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

  func options(of command: String) -> [Option] { options[command] ?? [] }

  /// - Parameter name: with dashes.
  func option(_ name: String, of command: String) -> Option? {
    options[command]?.first { $0.names.contains(name) }
  }

  func isKnown(_ name: String) -> Bool {
    options.values.contains { $0.contains { $0.names.contains(name) } }
  }

  /// The first of a command's arguments that is neither an option nor its value; what follows may be a program's.
  func endOfOptions(_ arguments: [String], of command: String) -> Int {
    var position = 0
    while position < arguments.count {
      let argument = arguments[position]
      guard argument.hasPrefix("-"), argument != "--" else { break }
      let takesNext = !argument.contains("=") && option(argument, of: command)?.takesValue ?? false
      position += takesNext ? 2 : 1
    }
    return min(position, arguments.count)
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
      names: names.map { ($0.kind == "long" ? "--" : "-") + $0.name }, takesValue: argument.kind == "option",
      isPath: kinds["file"] != nil || kinds["directory"] != nil || argument.valueName == "format=file")
  }
}
