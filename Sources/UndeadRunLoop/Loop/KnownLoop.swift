#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Dispatch

/// A loop as checks see it: what they must know to look at its state, without holding it.
struct KnownLoop {
  let core: LoopCore
  let identity: LoopIdentity
  /// The address of the loop.
  let loop: HiddenReference<TrackedRunLoop>

  init(_ loop: TrackedRunLoop) {
    core = loop.core
    identity = loop.identity
    self.loop = HiddenReference(loop)
  }

  func isSame(as other: TrackedRunLoop) -> Bool { loop == HiddenReference(other) }

  /// Whether the state is still that of this loop: it is reused when the loop is gone. The caller holds its lock.
  var isAlive: Bool {
    core.state.pointee.loop.map { HiddenReference<TrackedRunLoop>($0) } == loop
  }

  /// Calls `body` with the loop's lock unless the loop is gone.
  func withLock<Output>(_ body: () -> Output) -> Output? { core.withLock { isAlive ? body() : nil } }

  /// Adds work unless the loop is gone or has ended.
  func enqueue(_ item: WorkQueue.Item, modes: [Int32]) {
    withLock { if !core.state.pointee.isFinished { core.append(item, modes: modes) } }
  }
}
#endif
