/// Why the service could not do something.
public struct UndeadServiceError: Error, Equatable, CustomStringConvertible {
  /// What happened, with which input, and what to do, in one sentence.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
