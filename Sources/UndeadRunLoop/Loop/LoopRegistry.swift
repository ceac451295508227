#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

/// All loops that live, for ``TrackedRunLoop/inspect()`` and for checks.
///
/// It holds them neither strongly nor weakly: a weak reference would give each loop a side table, and make every later
/// retain of it three times as slow.
final class LoopRegistry: Sendable {
  // A reference is followed under the lock only, and a loop takes itself out under it before it is freed.
  private let loops = Locked<[KnownLoop]>([])

  static let shared = LoopRegistry()
  var lockForForks: LoopLock { loops.lock }

  func add(_ loop: TrackedRunLoop) {
    Instrument.prepare()
    loops.withLock { $0.append(KnownLoop(loop)) }
  }

  /// Called by the loop's `deinit`.
  func remove(_ loop: TrackedRunLoop) {
    let reference = HiddenReference(loop)
    // Released without the lock.
    let known = loops.withLock { loops in
      loops.firstIndex { $0.loop == reference }.map { loops.remove(at: $0) }
    }
    withExtendedLifetime(known) {}
  }

  /// The loops themselves, in the order in which they were made. Who lets go of one may end it: not for threads of ours.
  var all: [TrackedRunLoop] {
    loops.withLock { loops in
      loops.map(\.loop.unmanaged).compactMap { undead_loop_try_retain($0.toOpaque()) ? $0.takeRetainedValue() : nil }
    }
  }

  /// In the order in which they were made.
  var known: [KnownLoop] { loops.withLock { $0 } }

  /// The same, or nil if the list stays locked for `nanoseconds`.
  func known(within nanoseconds: Int64) -> [KnownLoop]? { loops.withLock(within: nanoseconds) { $0 } }
}
#endif
