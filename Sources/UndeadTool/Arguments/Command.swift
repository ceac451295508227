/// A command of the tool: what its command line may have, and what it does.
protocol Command: ParsableArguments, SendableMetatype {
  static var help: CommandHelp { get }
  func run() throws
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
