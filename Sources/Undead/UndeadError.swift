/// Why a check could not be made.
public struct UndeadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What a program can make of it.
  public enum Code: Sendable {
    /// The instrument does not work in this process, or was stopped: another try without `start()` fails, too.
    case unavailable
    /// This check or file could not be made: another try may succeed.
    case failed
  }

  /// What a program can make of it.
  public let code: Code
  /// What happened, in one sentence.
  public let description: String

  init(_ description: String, _ code: Code = .failed) {
    self.code = code
    self.description = description
  }
}
