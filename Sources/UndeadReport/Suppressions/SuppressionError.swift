/// A line of a suppression file that makes no sense.
public struct SuppressionError: Error, Sendable, Equatable, CustomStringConvertible {
  /// Name of the file, as given.
  package var file: String
  /// Line in the file, from 1.
  package var line: Int
  /// What is wrong with it, and what to write instead.
  package var message: String

  public var description: String { "\(file):\(line): \(message)" }
}
