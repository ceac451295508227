import Glibc

/// The help of commands: on one screen for `--help`, all for `--help-all`.
enum HelpText {
  /// Options of every command, with what they do.
  static let ofAll = [
    ("--version", "Show the version."), ("-h, --help", "Show the options that most calls need."),
    ("--help-all", "Show all options."),
  ]

  /// An example first, then the options that most calls need.
  static func brief(_ command: any Command.Type) -> String {
    let help = command.help
    var lines = [help.abstract, ""] + examples(help) + [""]
    let declarations = command.declarations
    let options = help.common.compactMap { name in declarations.first { $0.names.contains(name) } }.map { option in
      let value = option.takesValue ? " \(option.valueText)" : ""
      return (option.names.joined(separator: ", ") + value, option.brief ?? option.help)
    }
    let column = (options.map(\.0.count).max() ?? 0) + 2
    for (option, effect) in options { lines.append("  \(padded(option, to: column))\(effect)") }
    lines += ["", "All options and exit statuses: undead \(help.name) --help-all, or man undead.\(help.name)"]
    return lines.joined(separator: "\n")
  }

  static func full(_ command: any Command.Type) -> String {
    let help = command.help
    let operands = command.declarations.filter(\.isOperand).map { ($0.label(as: ""), $0.help) }
    var parts = [overview(help), section("EXAMPLES", help.examples.map { ($0.command, $0.purpose) })]
    parts.append("USAGE: " + usage(command).replacing("\n", with: "\n       "))
    if !operands.isEmpty { parts.append(section("ARGUMENTS", operands)) }
    for group in groups(command) {
      let rows = group.options.map { ($0.label, $0.help + details($0)) }
      parts.append(section(group.title?.uppercased() ?? "OPTIONS", rows + (group.title == nil ? ofAll : [])))
    }
    return parts.joined(separator: "\n\n") + "\n"
  }

  static func ofTool(_ commands: CommandSet) -> String {
    let verbs = commands.verbs.map { ($0.help.name, $0.help.abstract) }
    return [
      overview(commands.help), "USAGE: undead <subcommand>", section("OPTIONS", Array(ofAll.prefix(2))),
      section("SUBCOMMANDS", verbs), "  See 'undead help <subcommand>' for detailed help.",
    ].joined(separator: "\n\n")
  }

  /// What is wrong with a command line, and where there is help.
  static func refusal(_ error: ValidationError, _ command: (any Command.Type)?) -> String {
    let usage = command.map(usage) ?? "undead <subcommand>"
    let name = command.map { "undead \($0.help.name)" } ?? "undead"
    return """
      Error: \(error.message.plain)\(error.about.map { "\nHelp:  \($0.plain)" } ?? "")
      Usage: \(usage.replacing("\n", with: "\n       "))
        See '\(name) --help' for more information.
      """
  }

  /// Its lines of usage.
  static func usage(_ command: any Command.Type) -> String {
    if let usage = command.help.usage { return usage }
    let operands = command.declarations.filter(\.isOperand).map(\.label)
    return (["undead \(command.help.name) [options]"] + operands).joined(separator: " ")
  }

  /// Its options by the titles of their groups, those without one last.
  static func groups(_ command: any Command.Type) -> [(title: String?, options: [Declaration])] {
    var groups: [(title: String?, options: [Declaration])] = []
    for option in command.declarations where !option.isOperand {
      if let place = groups.firstIndex(where: { $0.title == option.title }) {
        groups[place].options.append(option)
      } else {
        groups.append((option.title, [option]))
      }
    }
    let own = groups.first { $0.title == nil }
    return groups.filter { $0.title != nil } + [own ?? (nil, [])]
  }

  // MARK: Layout

  private static func overview(_ help: CommandHelp) -> String {
    (["OVERVIEW: \(help.abstract)", ""]
      + help.discussion.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
      .map { wrapped($0, indent: 0) }.joined(separator: "\n")
  }

  private static func examples(_ help: CommandHelp) -> [String] {
    let width = (help.examples.map(\.command.count).filter { $0 <= 44 }.max() ?? 0) + 2
    return help.examples.map { example in
      let command = example.command.count < width ? padded(example.command, to: width) : "\(example.command)  "
      return "  \(command)\(example.purpose)"
    }
  }

  private static func section(_ title: String, _ rows: [(label: String, text: String)]) -> String {
    let column = 26
    let lines = rows.map { row in
      let text = wrapped(row.text, indent: column)
      let label = "  \(row.label)"
      return label.count < column ? padded(label, to: column) + text.dropFirst(column) : "\(label)\n\(text)"
    }
    return (["\(title):"] + lines).joined(separator: "\n")
  }

  private static func details(_ option: Declaration) -> String {
    let (values, initial) = (option.values().joined(separator: ", "), option.initialText())
    let details = [values.isEmpty ? "" : "values: \(values)", initial.isEmpty ? "" : "default: \(initial)"].filter {
      !$0.isEmpty
    }
    return details.isEmpty ? "" : " (\(details.joined(separator: "; ")))"
  }

  static func wrapped(_ text: String, indent: Int, width: Int = Self.width) -> String {
    let margin = String(repeating: " ", count: indent)
    var lines: [String] = []
    var line = margin
    for word in text.split(separator: " ") {
      if line.count > indent, line.count + 1 + word.count >= width {
        lines.append(line)
        line = margin
      }
      line += (line.count > indent ? " " : "") + word
    }
    return (lines + [line]).joined(separator: "\n")
  }

  private static let width = max(Terminal.width(STDOUT_FILENO) ?? 80, 50)

  static func padded(_ text: String, to width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }
}
