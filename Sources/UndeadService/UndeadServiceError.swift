/// Why the service could not do something.
public struct UndeadServiceError: Error, Equatable, CustomStringConvertible {
  /// What happened, with which input, and what to do, in one sentence.
  public let description: String

  init(_ description: String) {
    self.description = description
  }

  #if !canImport(Glibc) || UNDEAD_WITHOUT_INSTRUMENT
    static let unsupported = UndeadServiceError("this works on Linux only: nothing is recorded elsewhere")
  #endif
}
