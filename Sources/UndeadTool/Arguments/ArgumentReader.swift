import UndeadReport

/// Reads the words of a command line into the declarations of a command.
///
/// `--name VALUE`, `--name=VALUE`, `-n VALUE`, `-nVALUE`, `-n=VALUE`; short flags together: `-qv`. A value begins with `-` only behind `=`.
/// Of an option that is given twice the last one counts. Options may follow operands, up to `--`, unless the command has an operand
/// that takes all that follows.
struct ArgumentReader {
  /// What is asked of the tool in the place of the command.
  enum Request: String, Error, CaseIterable {
    case help = "--help"
    case allHelp = "--help-all"
    case version = "--version"

    init?(word: String) {
      self.init(rawValue: word == "-h" || word == "-help" ? "--help" : word)
    }
  }

  private let declarations: [Declaration]
  private var words: ArraySlice<String>
  private var operands: [String] = []
  private var afterTerminator: [String] = []

  init(_ declarations: [Declaration], _ words: [String]) {
    self.declarations = declarations
    self.words = words[...]
  }

  mutating func read() throws {
    let takesRest = declarations.contains { $0.words == .rest }
    // Help is help, whatever is wrong before it.
    for word in words {
      if takesRest || word == "--" { break }
      if let request = Request(word: word) { throw request }
    }
    while let word = words.first {
      if takesRest, word == "--" || !isOption(word) {
        // It would not be the first word of a program.
        if word != "--", word.hasPrefix("--"), closest(to: Self.name(word)) != nil { throw unknown(Self.name(word)) }
        operands += words
        break
      }
      words.removeFirst()
      if word == "--" {
        afterTerminator += words
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      if let request = Request(word: word) { throw request }
      if word.hasPrefix("--") { try readLong(word) } else { try readShort(word) }
    }
    try readOperands()
  }

  private func isOption(_ word: String) -> Bool {
    guard word.hasPrefix("-") else { return false }
    if Request(word: Self.name(word)) != nil { return true }
    if word.hasPrefix("--") { return find(Self.name(word)) != nil }
    // All letters up to one with a value.
    for letter in word.dropFirst() {
      guard let option = find("-\(letter)") else { return false }
      if option.takesValue { return true }
    }
    return word != "-"
  }

  private func find(_ name: String) -> Declaration? { declarations.first { $0.names.contains(name) } }

  private static func name(_ word: String) -> String { String(word.prefix { $0 != "=" }) }

  private mutating func readLong(_ word: String) throws {
    let name = Self.name(word)
    let value = name.utf8.count == word.utf8.count ? nil : String(word.dropFirst(name.count + 1))
    let option = find(name)
    if let option, option.takesValue { return try read(value ?? nextValue(of: option, name), into: option, name) }
    guard option != nil || Request(word: name) != nil else { throw unknown(name) }
    if let value {
      throw ValidationError("The option '\(name)' does not take any value, but '\(value)' was specified.")
    }
    try option?.read(name)
  }

  private mutating func readShort(_ word: String) throws {
    var rest = word.dropFirst()
    while let letter = rest.popFirst() {
      let name = "-\(letter)"
      guard let option = find(name) else { throw unknown(rest.isEmpty ? name : word) }
      if option.takesValue {
        if rest.first == "=" {
          rest = rest.dropFirst()
        } else if rest.isEmpty {
          rest = try nextValue(of: option, name)[...]
        }
        return try read(String(rest), into: option, name)
      }
      try option.read(name)
    }
  }

  private mutating func nextValue(of option: Declaration, _ name: String) throws -> String {
    guard let value = words.first, value == "-" || !value.hasPrefix("-") else {
      throw ValidationError("Missing value for '\(option.label(as: name))'", about: about(option, name))
    }
    words.removeFirst()
    return value
  }

  private func read(_ word: String, into declaration: Declaration, _ name: String = "") throws {
    do {
      try declaration.read(word)
    } catch let error as ValidationError {
      var message: TextLine = "The value '\(word)' is invalid for '\(declaration.label(as: name))'"
      if !declaration.values().isEmpty {
        message += "; give one of: \(declaration.values().joined(separator: ", "))"
      } else if !error.message.isEmpty {
        message += ": \(error.message)"
      }
      throw ValidationError(message, about: about(declaration, name))
    }
  }

  private mutating func readOperands() throws {
    let hasPlace = declarations.contains { $0.words == .afterTerminator }
    if !hasPlace { operands += afterTerminator }
    var left = operands[...]
    for operand in declarations where operand.isOperand {
      let taken =
        operand.words == .afterTerminator ? afterTerminator[...] : operand.isRepeating ? left : left.prefix(1)
      if operand.words != .afterTerminator { left = left.dropFirst(taken.count) }
      if taken.isEmpty, !operand.isOptional {
        throw ValidationError("Missing expected argument '\(operand.label)'", about: about(operand))
      }
      for word in taken { try read(word, into: operand) }
    }
    guard let first = left.first else { return }
    let quoted = left.map { "'\($0)'" }.joined(separator: ", ")
    throw ValidationError(
      left.count == 1 ? "Unexpected argument '\(first)'" : "\(left.count) unexpected arguments: \(quoted)")
  }

  // MARK: Errors

  private func about(_ declaration: Declaration, _ name: String = "") -> TextLine {
    "\(declaration.label(as: name))  \(declaration.help)"
  }

  private func unknown(_ name: String) -> ValidationError {
    ValidationError("Unknown option '\(name)'\(closest(to: name).map { ". Did you mean '\($0)'?" } ?? "")")
  }

  private func closest(to name: String) -> String? {
    let names = declarations.flatMap { $0.names } + Request.allCases.map { $0.rawValue }
    return UnknownWord.closest(to: name, among: names.filter { $0.hasPrefix("--") })
  }
}
