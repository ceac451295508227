import CUndeadRunLoop

/// All loops that live, for ``TrackedRunLoop/inspect()``.
///
/// It holds them neither strongly nor weakly: a weak reference would give each loop a side table, and make every later
/// retain of it three times as slow.
final class LoopRegistry: Sendable {
  // The references are followed under the lock only, and a loop takes itself out under it before it is freed.
  private struct Loops: @unchecked Sendable { var list: [Unmanaged<TrackedRunLoop>] = [] }
  private let loops = Locked(Loops())

  static let shared = LoopRegistry()

  func add(_ loop: TrackedRunLoop) { loops.withLock { $0.list.append(Unmanaged.passUnretained(loop)) } }

  /// Called by the loop's `deinit`.
  func remove(_ loop: TrackedRunLoop) {
    let address = Unmanaged.passUnretained(loop).toOpaque()
    loops.withLock { $0.list.removeAll { $0.toOpaque() == address } }
  }

  /// In the order in which they were made.
  var all: [TrackedRunLoop] {
    loops.withLock { loops in
      loops.list.compactMap { undead_loop_try_retain($0.toOpaque()) ? $0.takeRetainedValue() : nil }
    }
  }

  func name(of core: LoopCore) -> String { all.first { $0.core == core }?.name ?? "" }
}
