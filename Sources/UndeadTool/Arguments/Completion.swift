/// What a shell offers in the place of a value or an operand.
enum Completion {
  case none, file, directory
  case words(() -> [String])
  /// Files, and these words.
  case filesAnd(() -> [String])
}
