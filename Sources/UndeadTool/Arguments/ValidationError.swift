import UndeadReport

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
