import CUndead
import Foundation

/// A snapshot in memory of the instrument, which takes it back when this object goes.
// Unchecked: the pointer is to memory of its own, which nobody changes.
final class SnapshotBytes: ContiguousBytes, @unchecked Sendable {
  private let start: UnsafeMutableRawPointer?
  private let count: Int

  /// Finds what leaked now.
  init() throws(UndeadError) {
    var bytes: UnsafeMutableRawPointer?
    var size = 0
    try withMessage { undead_snapshot_copy(&bytes, &size, $0, $1) }
    start = bytes
    count = size
  }

  deinit {
    undead_snapshot_release(start, count)
  }

  func withUnsafeBytes<Output>(_ body: (UnsafeRawBufferPointer) throws -> Output) rethrows -> Output {
    try body(UnsafeRawBufferPointer(start: start, count: count))
  }
}
