#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What a run loop can be given: a timer, a source, an observer, or a display link.
///
/// One way for all of them: ``TrackedRunLoop/insert(_:forMode:)`` throws what it refuses. An item is in one loop at a time,
/// in any number of its modes.
public protocol RunLoopItem: AnyObject, Sendable {
  /// Whether the item was not invalidated.
  var isValid: Bool { get }

  /// Ends the item for good: it leaves its loop, and lets go of what it holds.
  func invalidate()

  /// Enters a mode of a loop; called by ``TrackedRunLoop/insert(_:forMode:)``.
  ///
  /// - Returns: whether the mode is new to the item.
  func enter(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) throws(RunLoopError) -> Bool

  /// Leaves a mode of a loop, nothing if it is not in it.
  func leave(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode)
}

extension TrackedRunLoop {
  /// Gives the loop a timer, a source, an observer or a display link, to be served while it runs in a mode.
  ///
  /// The older `add` forms do the same, each with an answer of its own.
  ///
  /// - Returns: whether the mode is new to the item; inserting it twice changes nothing.
  /// - Throws: why the item is refused: `RunLoopError.invalidated`, `.belongsToAnotherLoop`, `.loopFinished`,
  ///   `.tooManyTimers`, `.unusableDescriptor` or `.unusableSignal`.
  @discardableResult
  public func insert(_ item: some RunLoopItem, forMode mode: Mode = .default) throws(RunLoopError) -> Bool {
    try item.enter(self, forMode: mode)
  }

  /// Takes an item out of a mode; out of its last one, it may be given to another loop. It stays valid.
  public func remove(_ item: some RunLoopItem, forMode mode: Mode) { item.leave(self, forMode: mode) }
}

extension TrackedTimer: RunLoopItem {
  public func enter(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) throws(RunLoopError) -> Bool {
    try loop.add(self, forMode: mode).get()
  }

  public func leave(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) { loop.remove(self, forMode: mode) }
}

extension TrackedRunLoopSource: RunLoopItem {
  public func enter(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) throws(RunLoopError) -> Bool {
    try loop.add(self, forMode: mode)
  }

  public func leave(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) { loop.remove(self, forMode: mode) }
}

extension TrackedRunLoopObserver: RunLoopItem {
  public func enter(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) throws(RunLoopError) -> Bool {
    try loop.add(self, forMode: mode).get()
  }

  public func leave(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) { loop.remove(self, forMode: mode) }
}

extension TrackedDisplayLink: RunLoopItem {
  public func leave(_ loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) { remove(from: loop, forMode: mode) }
}
#endif
