/// A form that most answers can have.
enum AnswerFormat: String, ExpressibleByArgument, CaseIterable { case text, json }

/// Where the answer of a verb goes that is no report on findings.
struct AnswerFile: ParsableArguments {
  @Option(
    "-o, --output <file>", help: "Write the answer to a file instead of the terminal.",
    brief: "write the answer to a file", completion: .file)
  var output: String?

  /// - Parameter standard: where it goes without a file.
  func sink(else standard: OutputSink = .standardOutput) throws(ToolError) -> OutputSink {
    if let output { try OutputSink(file: output) } else { standard }
  }
}
