#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The right to give a loop what only its thread may touch: a value of it exists only on that thread.
///
/// What is scheduled through it need not be `Sendable`; it is called and released on the loop's thread.
public struct RunLoopConfinement: ~Copyable {
  /// The loop.
  public let loop: TrackedRunLoop

  fileprivate init(_ loop: TrackedRunLoop) { self.loop = loop }

  /// A timer that calls a block, added to the loop.
  ///
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @discardableResult
  public func schedule(
    after interval: Duration, repeats: Bool = false, mode: TrackedRunLoop.Mode = .default,
    _ block: @escaping (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = TrackedTimer(
      interval: try Instants.nanoseconds(of: interval), repeats: repeats, confined: true, action: .block(block))
    return try loop.start(timer, mode)
  }
}

extension TrackedRunLoop {
  /// Runs a block on the loop's thread that may schedule what is not `Sendable`.
  ///
  /// - Parameter body: called once, in the common modes; it may capture what nobody else uses any more.
  /// - Returns: false if the loop's thread has ended.
  @discardableResult
  public func confine(_ body: sending @escaping (borrowing RunLoopConfinement) -> Void) -> Bool {
    // Not held: the loop would keep itself alive if nobody ran it. Whoever calls the block runs the loop, and so has it.
    core.enqueue(
      .block({ [unowned(unsafe) self] in body(RunLoopConfinement(self)) }, nil), modes: [.common])
  }
}
#endif
