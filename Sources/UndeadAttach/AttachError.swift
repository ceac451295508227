/// Why a process or a core cannot be looked at: what happened, with which input, and what to do.
package struct AttachError: Error, Equatable, CustomStringConvertible {
  package enum Kind: Sendable {
    /// The input is not one that can be looked at.
    case misuse
    /// The work failed.
    case failure
    /// The moment was a bad one; the same may succeed soon.
    case again
  }

  package let kind: Kind
  package let message: String

  package init(_ kind: Kind, _ message: String) {
    self.kind = kind
    self.message = message
  }

  package var description: String { message }

  static func misuse(_ message: String) -> AttachError { AttachError(.misuse, message) }
  static func failure(_ message: String) -> AttachError { AttachError(.failure, message) }
  static func again(_ message: String) -> AttachError { AttachError(.again, message) }
}

/// A number as people write addresses and offsets.
func hex(_ number: some BinaryInteger) -> String { "0x" + String(number, radix: 16) }
