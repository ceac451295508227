/// Why a file could not be read as a JSON report.
public struct ReportFileError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What is wrong, and what to do.
  package var message: String

  /// Makes an error of its message.
  package init(message: String) {
    self.message = message
  }

  init(_ error: DecodingError) {
    func place(_ context: DecodingError.Context) -> String {
      let path = context.codingPath.map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined()
      return path.isEmpty ? "" : " at \(path.drop { $0 == "." })"
    }
    let hint = "; give a JSON report that undead wrote"
    switch error {
    case .keyNotFound(let key, let context):
      message = "not a report of undead: the key \"\(key.stringValue)\" is missing\(place(context))\(hint)"
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      message = "not a report of undead: unexpected value\(place(context))\(hint)"
    case .dataCorrupted(let context) where context.codingPath.last?.stringValue == "schemaVersion":
      message = context.debugDescription
    case .dataCorrupted(let context):
      message = "not valid JSON\(place(context)): \(context.debugDescription)\(hint)"
    @unknown default:
      message = "the report cannot be read: \(error)\(hint)"
    }
  }

  public var description: String { message }
}
