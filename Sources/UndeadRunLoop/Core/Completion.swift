#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Synchronization

/// What a thread waits for while another runs its work.
final class Completion: Sendable {
  private enum State {
    static let pending: UInt32 = 0
    static let done: UInt32 = 1
    static let abandoned: UInt32 = 2
  }
  // A word outside of the object, because a futex needs a stable address.
  private let word: LoopWord

  init() { word = LoopWord() }

  func finish() { set(State.done) }
  func abandon() { set(State.abandoned) }

  /// Waits for `finish()` (true) or `abandon()` (false).
  func wait() -> Bool {
    while word.pointer.pointee.load(ordering: .acquiring) == State.pending {
      undead_loop_futex_wait(word.pointer, State.pending)
    }
    return word.pointer.pointee.load(ordering: .acquiring) == State.done
  }

  var isFinished: Bool { word.pointer.pointee.load(ordering: .acquiring) != State.pending }

  private func set(_ state: UInt32) {
    word.pointer.pointee.store(state, ordering: .releasing)
    undead_loop_futex_wake(word.pointer)
  }
}

/// An atomic word with an address.
final class LoopWord: @unchecked Sendable {
  let pointer: UnsafeMutablePointer<Atomic<UInt32>>

  init() {
    pointer = .allocate(capacity: 1)
    pointer.initialize(to: Atomic(0))
  }

  deinit {
    pointer.deinitialize(count: 1)
    pointer.deallocate()
  }
}
#endif
