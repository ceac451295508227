import UndeadReport

/// Properties that declare options.
protocol ParsableArguments {
  init()
  /// Refuses values that do not go together.
  func validate() throws
}

extension ParsableArguments {
  func validate() throws {}
}

/// A command of the tool: what its command line may have, and what it does.
protocol Command: ParsableArguments, SendableMetatype {
  static var help: CommandHelp { get }
  func run() throws
}

/// What is said of a command beside its options.
struct CommandHelp: Sendable {
  var name: String
  var abstract: String
  /// Lines; made of the operands if it is nil.
  var usage: String?
  var examples: [(command: String, purpose: String)] = []
  /// Options in the help of one screen, by their long names: those that most calls need.
  var common: [String] = []
  /// Paragraphs; that with the exit status is one of them.
  var discussion: String
}

/// A command line that is wrong. It ends the tool with status 64, the usage and where there is help.
struct ValidationError: Error {
  let message: TextLine
  /// The help of the option in question.
  var about: TextLine?

  init(_ message: TextLine, about: TextLine? = nil) {
    self.message = message
    self.about = about
  }
}

/// The end of a command with a status.
struct ExitCode: Error {
  let rawValue: Int32

  init(_ status: Int32) { rawValue = status }
}

/// What a command line asks of the tool itself: help, the version, completions.
struct Answer: Error {
  let text: String
}

extension Command {
  static var declarations: [Declaration] { Declarations.of(self).1.all }

  /// Reads the words after the command's name.
  ///
  /// - Throws: ``ValidationError``, or ``ArgumentReader/Request`` if they ask for help.
  static func parse(_ words: [String]) throws -> Self {
    let (command, declarations) = Declarations.of(self)
    var reader = ArgumentReader(declarations.all, words)
    try reader.read()
    try declarations.validate()
    try command.validate()
    return command
  }
}
