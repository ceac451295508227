/// Exit statuses of the tool itself; a program's own status goes before them.
enum ExitStatus {
  static let findings: Int32 = 23
  static let misuse: Int32 = 64
  static let toolFailure: Int32 = 70
}

/// A failure that ends the tool: what happened, with which input, and what to do next.
struct ToolError: Error, Equatable, CustomStringConvertible {
  let message: String
  let status: Int32

  /// The command line, or a file that it names, asks for something that cannot be done.
  static func misuse(_ message: String) -> ToolError { ToolError(message: message, status: ExitStatus.misuse) }

  /// The tool could not do its work.
  static func failure(_ message: String) -> ToolError { ToolError(message: message, status: ExitStatus.toolFailure) }

  var description: String { message }
}
