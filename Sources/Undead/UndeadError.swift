import Foundation

/// Why a check could not be made.
public struct UndeadError: Error, Sendable, Equatable, CustomStringConvertible {
  /// What happened, in one sentence.
  public let description: String

  init(_ description: String) {
    self.description = description
  }
}
