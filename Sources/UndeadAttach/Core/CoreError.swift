/// Why a core file gives no answer: what is wrong with which part of it, and what to do.
public struct CoreError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Whose fault it is.
  public enum Kind: Sendable {
    /// The file, or what was given with it.
    case input
    /// This machine, or Undead.
    case failure
  }

  public var kind: Kind
  public var description: String

  static func input(_ text: String) -> CoreError { CoreError(kind: .input, description: text) }
  static func failure(_ text: String) -> CoreError { CoreError(kind: .failure, description: text) }
}

/// A number as people write addresses and offsets.
func hex(_ number: some BinaryInteger) -> String { "0x" + String(number, radix: 16) }
