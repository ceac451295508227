import CUndeadRunLoop

/// All loops that live, for ``TrackedRunLoop/inspect()``.
///
/// It holds them neither strongly nor weakly: a weak reference would give each loop a side table, and make every later
/// retain of it three times as slow.
final class LoopRegistry: Sendable {
  // The references are followed under the lock only, and a loop takes itself out under it before it is freed.
  private let loops = Locked<[HiddenReference<TrackedRunLoop>]>([])

  static let shared = LoopRegistry()

  func add(_ loop: TrackedRunLoop) {
    Instrument.prepare()
    loops.withLock { $0.append(HiddenReference(loop)) }
  }

  /// Called by the loop's `deinit`.
  func remove(_ loop: TrackedRunLoop) {
    let reference = HiddenReference(loop)
    loops.withLock { $0.removeAll { $0 == reference } }
  }

  /// In the order in which they were made.
  var all: [TrackedRunLoop] {
    loops.withLock { loops in
      loops.map(\.unmanaged).compactMap { undead_loop_try_retain($0.toOpaque()) ? $0.takeRetainedValue() : nil }
    }
  }

  /// Calls `body` with each loop, or returns nil if the list stays locked for `nanoseconds`. Loops are not retained, because
  /// releasing one could end it on a thread that is not its own; the end of a loop waits for this to return.
  func forEach(within nanoseconds: Int64, _ body: (TrackedRunLoop) -> Void) -> Void? {
    loops.withLock(within: nanoseconds) { loops in
      for loop in loops { loop.unmanaged._withUnsafeGuaranteedRef(body) }
    }
  }

  func name(of core: LoopCore) -> String { all.first { $0.core == core }?.name ?? "" }
}
