/// Why a file could not be read as a snapshot: what is wrong, at which byte, and what to do.
package struct SnapshotError: Error, Equatable, Sendable, CustomStringConvertible {
  /// The classes of what can be wrong.
  package enum Reason: String, Sendable {
    case empty, notASnapshot, truncated, futureVersion, foreignMachine, damaged, unreadable
  }

  /// What kind of thing is wrong.
  package var reason: Reason
  /// Where in the file, in bytes from its start.
  package var byte: Int
  /// What is wrong there.
  package var detail: String

  /// Makes an error about a byte of the file.
  package init(_ reason: Reason, byte: Int, _ detail: String) {
    self.reason = reason
    self.byte = byte
    self.detail = detail
  }

  package var description: String {
    switch reason {
    case .empty:
      "the file is empty (byte 0): the program ended, or the disk was full, before the snapshot was written; run it again"
    case .notASnapshot:
      "not a snapshot of undead (byte \(byte)): \(detail); give a file that `undead run --save` or the library wrote"
    case .truncated:
      "the snapshot is cut off at byte \(byte): \(detail); copy it again, or take a new one"
    case .futureVersion:
      "the snapshot was written by a newer undead (byte \(byte)): \(detail); read it with that version"
    case .foreignMachine:
      "the snapshot comes from another kind of machine (byte \(byte)): \(detail); read it with the undead that wrote it"
    case .damaged:
      "the snapshot is damaged at byte \(byte): \(detail); copy it again, or take a new one"
    case .unreadable:
      detail
    }
  }
}
