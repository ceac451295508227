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
