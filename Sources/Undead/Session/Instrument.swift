import CUndead
import UndeadReport

/// What a session asks the instrument about the heap. A test answers with a heap of its own.
package struct Instrument: Sendable {
  /// True while allocations are recorded.
  var isActive: @Sendable () -> Bool
  /// False if nothing that was born in a scope since a mark can be a leak; the object is one that is alive.
  var mayHaveLeaks: @Sendable (_ scope: UInt32, _ mark: UInt32, _ holder: UnsafeRawPointer?) -> Bool
  /// False if nothing is left that was allocated while scopes were open.
  var haveSurvivors: @Sendable () -> Bool
  /// Finds what leaked, on the calling thread; the result reads what was found, on any thread.
  var look: @Sendable () throws(UndeadError) -> @Sendable () throws -> Snapshot
  /// Which scope a block was marked with, by its address.
  var markOfBlock: @Sendable (UInt64) -> UInt32
  /// Marks of blocks that in the last look only stacks and registers of threads led to.
  var heldByThreads: @Sendable () -> [UInt32]

  /// The one of this process.
  package static let process = Instrument(
    isActive: { undead_is_active() },
    mayHaveLeaks: { undead_scope_may_have_leaks($0, $1, $2) },
    haveSurvivors: { undead_scope_has_survivors(1, 0) },
    look: { () throws(UndeadError) in
      let bytes = try SnapshotBytes()
      return { try Snapshot(decoding: bytes) }
    },
    markOfBlock: { undead_scope_of_block(UnsafeRawPointer(bitPattern: UInt($0))) },
    heldByThreads: {
      let most = 256
      return [UInt32](unsafeUninitializedCapacity: most) { buffer, count in
        count = Int(undead_scopes_held_by_threads(buffer.baseAddress, UInt32(most)))
      }
    })
}
