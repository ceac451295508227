import ArgumentParser
import UndeadReport
import UndeadSystem

/// Options that hold for every call: those of the file `.undead.options`, then those of `UNDEAD_OPTIONS`.
///
/// They come before those of the command line, which so have the last word (`Documentation/options.md`).
struct StandingOptions: Equatable {
  static let fileName = ".undead.options"
  static let variable = "UNDEAD_OPTIONS"

  /// An option and where it stands.
  struct Entry: Equatable {
    /// One argument: `--name=value`, `--name`, or `-n` with its value behind it.
    var argument: String
    /// Such as `.undead.options:3`.
    var place: String
  }

  private(set) var entries: [Entry] = []

  var arguments: [String] { entries.map(\.argument) }

  /// The options for a command of the tool.
  ///
  /// - Parameter arguments: of the tool, the command first.
  static func load(for arguments: [String]) throws(ToolError) -> StandingOptions {
    let words = System.environment(variable)
    let file = ProjectFiles.nearest(fileName, from: System.currentDirectory)
    var options = StandingOptions()
    guard words != nil || file != nil, let command = arguments.first else { return options }
    let table = OptionTable.ofThisTool
    let rest = Array(arguments.dropFirst())
    guard table.commands.contains(command), command != "help",
      !rest[..<table.endOfOptions(rest, of: command)].contains("--no-config")
    else { return options }
    if let file {
      switch FoundFile.read(fileName, in: folder(of: file)) {
      case .content(let content):
        try options.add(file: String(decoding: content, as: UTF8.self), path: file, command: command, table: table)
      case .doubtful(let doubt):
        Message.say(TextLine(FoundFile.sentence(file, doubt, instead: "give its options in \(variable)")))
      case .unreadable(let code): throw .misuse("cannot read '\(file)': \(SystemError.text(code))")
      case .missing: break
      }
    }
    if let words { try options.add(words: words, command: command, table: table) }
    return options
  }

  private static func folder(of file: String) -> String {
    let folder = file.dropLast(fileName.utf8.count + 1)
    return folder.isEmpty ? "/" : String(folder)
  }

  // MARK: Sources

  /// Adds the lines of a file: `--option value`, or `command --option value` for one command only.
  mutating func add(file: String, path: String, command: String, table: OptionTable) throws(ToolError) {
    for (number, row) in file.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      var line = row.trimmed
      guard !line.isEmpty, !line.hasPrefix("#") else { continue }
      let place = "\(path):\(number + 1)"
      var isForOneCommand = false
      if !line.hasPrefix("-") {
        let word = String(line.prefix { !$0.isWhitespace })
        guard table.commands.contains(word) else {
          throw .misuse(
            "\(place): '\(word)' is neither an option nor a command; write one option a line, like --format json, or "
              + "run --zombies for one command only")
        }
        guard word == command else { continue }
        isForOneCommand = true
        line = line.dropFirst(word.count).trimmed
      }
      let name = String(line.prefix { !$0.isWhitespace && $0 != "=" })
      let hasEquals = line.dropFirst(name.count).first == "="
      let value = line.dropFirst(name.count + (hasEquals ? 1 : 0)).trimmed
      try add(
        name, hasEquals || !value.isEmpty ? String(value) : nil, place: place, command: command,
        isForOneCommand: isForOneCommand, table: table, directory: Self.folder(of: path))
    }
  }

  /// Adds options that are separated by blanks; quotes keep blanks together, as in a shell.
  mutating func add(words text: String, command: String, table: OptionTable) throws(ToolError) {
    var words = Self.split(text)[...]
    while let word = words.popFirst() {
      let name = String(word.prefix { $0 != "=" })
      var value: String? = word.contains("=") ? String(word.dropFirst(name.count + 1)) : nil
      if value == nil, table.takesValue(name) { value = words.popFirst() }
      try add(
        name, value, place: Self.variable, command: command, isForOneCommand: false, table: table, directory: nil)
    }
  }

  private mutating func add(
    _ name: String, _ value: String?, place: String, command: String, isForOneCommand: Bool, table: OptionTable,
    directory: String?
  ) throws(ToolError) {
    guard name.hasPrefix("-"), !["--help", "-h", "--version", "--", "--no-config"].contains(name), table.isKnown(name)
    else {
      throw .misuse("\(place): '\(name)' is no option that can stand here; 'undead help \(command)' has them all")
    }
    guard let option = table.option(name, of: command) else {
      // Another command has it.
      if isForOneCommand { throw .misuse("\(place): 'undead \(command)' has no option '\(name)'") }
      return
    }
    let long = option.names.first { $0.hasPrefix("--") } ?? name
    let kind = try directory.map { _ throws(ToolError) in try Self.kind(of: long, place: place) }
    guard option.takesValue else {
      guard value == nil else { throw .misuse("\(place): \(name) takes no value, but has '\(value!)'") }
      return entries.append(Entry(argument: name, place: place))
    }
    guard var value, !value.isEmpty else { throw .misuse("\(place): \(name) needs a value") }
    if option.isPath, let directory {
      value = Self.resolve(value, against: directory)
      let path = Self.path(in: value)
      if let obstacle = kind?.obstacle(to: path, in: directory) {
        throw .misuse(
          "\(place): \(long) names '\(path)', which \(obstacle); a file of options names regular files, and those that are "
            + "written lie in its folder: leave it out, or give it on the command line or in \(Self.variable)")
      }
    }
    entries.append(Entry(argument: "\(long)=\(value)", place: place))
  }

  private static func kind(of option: String, place: String) throws(ToolError) -> FileOption {
    switch FileOption(option) {
    case .refused(let reason):
      throw .misuse(
        "\(place): \(option) \(reason), and may not stand in a file; give it on the command line or in \(variable)")
    case nil:
      throw .misuse("\(place): \(option) may not stand in a file; give it on the command line or in \(variable)")
    case let kind?: return kind
    }
  }

  /// The path in a value, which may have a form of a report before it.
  private static func path(in value: String) -> String {
    guard let equals = value.firstIndex(of: "="), ReportFormat(rawValue: String(value[..<equals])) != nil else {
      return value
    }
    return String(value[value.index(after: equals)...])
  }

  /// A file that a file names lies beside it, whatever directory is the current one.
  private static func resolve(_ value: String, against directory: String) -> String {
    // Of `--report`.
    if let equals = value.firstIndex(of: "="), ReportFormat(rawValue: String(value[..<equals])) != nil {
      return value[...equals] + resolve(String(value[value.index(after: equals)...]), against: directory)
    }
    return value.hasPrefix("/") ? value : ProjectFiles.join(directory, value)
  }

  static func split(_ text: String) -> [String] {
    var words: [String] = []
    var word: String?
    var quote: Character?
    for character in text {
      switch (quote, character) {
      case (nil, "'"), (nil, "\""): (quote, word) = (character, word ?? "")
      case (let open?, character) where open == character: quote = nil
      case (nil, let blank) where blank.isWhitespace:
        if let whole = word { words.append(whole) }
        word = nil
      default: word = (word ?? "") + String(character)
      }
    }
    return words + (word.map { [$0] } ?? [])
  }

  // MARK: Blame

  /// The command line is right by itself, but not with these: says which of them is to blame.
  ///
  /// - Parameter parse: tries arguments, and returns what is wrong with them.
  func problem(_ parse: ([String]) -> String?) -> ToolError? {
    guard !entries.isEmpty, parse([]) == nil, let words = parse(arguments) else { return nil }
    let alone = entries.indices.first { index in
      parse(entries.enumerated().filter { $0.offset != index }.map(\.element.argument)) == nil
    }
    let first = alone ?? entries.indices.first { parse(Array(arguments[...$0])) != nil } ?? 0
    return .misuse("\(entries[first].place): \(words); leave it out, or give --no-config")
  }
}

extension OptionTable {
  /// True if the option has a value wherever it is known.
  func takesValue(_ name: String) -> Bool {
    commands.contains { option(name, of: $0)?.takesValue ?? false }
  }
}
