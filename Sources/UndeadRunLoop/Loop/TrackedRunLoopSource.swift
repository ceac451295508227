#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Synchronization

/// Something that a run loop waits for: a descriptor, a signal, or a call of ``signal()``.
///
/// All members are safe to call from any thread; handlers are called on the loop's thread.
///
/// A child that is forked may go on with the loop of the thread that forked: the loop gets descriptors of its own there, and
/// what the child adds, ends or wakes is nothing to its parent. Only the child sees a signal that it receives.
public final class TrackedRunLoopSource: Sendable {
  /// What a descriptor is ready for.
  public struct Conditions: OptionSet, Hashable, Sendable {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// There is something to read, or the other end is closed.
    public static let readable = Conditions(rawValue: UNDEAD_LOOP_READABLE)
    /// Writing would not block.
    public static let writable = Conditions(rawValue: UNDEAD_LOOP_WRITABLE)
    /// The other end is gone, or the descriptor failed. Always reported, asked for or not: invalidate the source.
    public static let hangUp = Conditions(rawValue: UNDEAD_LOOP_HANGUP)
  }

  enum Kind {
    case custom(@Sendable (TrackedRunLoopSource) -> Void)
    case descriptor(Int32, Conditions, @Sendable (TrackedRunLoopSource, Conditions) -> Void)
    case signal(Int32, @Sendable (TrackedRunLoopSource) -> Void)
  }

  let kind: Kind
  /// Signalled sources are called from the lowest order to the highest.
  let order: Int
  let membership = Membership()
  // Guarded by `membership`.
  nonisolated(unsafe) var isSignalled = false
  /// By which its loop finds it.
  nonisolated(unsafe) var number: UInt64 = 0

  private init(kind: Kind, order: Int = 0) {
    self.kind = kind
    self.order = order
  }

  /// A source that is ready after a call of ``signal()``.
  ///
  /// - Parameters:
  ///   - order: signalled sources are called from the lowest to the highest.
  ///   - perform: called once for any number of signals since the last call.
  public convenience init(order: Int = 0, perform: @escaping @Sendable (TrackedRunLoopSource) -> Void) {
    self.init(kind: .custom(perform), order: order)
  }

  /// A source that is ready when a descriptor is. The descriptor stays the caller's: invalidate the source, then close it. One
  /// that is closed, or stands for another file, before that is noticed when the loop runs: the source is dropped and reported.
  ///
  /// - Parameters:
  ///   - descriptor: a socket, pipe, terminal, eventfd or the like; not a regular file, which is always ready.
  ///   - conditions: what to wait for. A condition that is not dealt with is reported again, a hang-up until the source is
  ///     invalidated. Of several sources of a descriptor the first is called first, the others if there is still something.
  ///   - handler: called with the conditions that hold.
  public convenience init(
    descriptor: Int32, conditions: Conditions,
    handler: @escaping @Sendable (TrackedRunLoopSource, Conditions) -> Void
  ) {
    self.init(kind: .descriptor(descriptor, conditions, handler))
  }

  /// A source that is ready when the process receives a signal. While the source is in a loop, the signal does nothing else;
  /// afterwards it does what it did before. Signals that report a fault (`SIGSEGV`, `SIGBUS`, `SIGFPE`, `SIGILL`, `SIGTRAP`)
  /// are refused: a handler that returns would have them raised again and again.
  ///
  /// - Parameters:
  ///   - signal: its number.
  ///   - handler: called once for any number of arrivals since the last call.
  public convenience init(signal: Int32, handler: @escaping @Sendable (TrackedRunLoopSource) -> Void) {
    self.init(kind: .signal(signal, handler))
  }

  /// Whether the source can still be called.
  public var isValid: Bool { !membership.isOver }

  /// Makes a source of the first kind ready and wakes its loop. Signals before the call to its block count once.
  public func signal() {
    membership.withHome { core in
      if isSignalled { return }
      isSignalled = true
      core?.state.pointee.sources.noteSignalled(number)
      core?.state.pointee.sleep.noteWork()
    }
  }

  /// Takes the source out of its loop for good. May be called twice and in the handler.
  public func invalidate() {
    // Let go of without the lock: it may be the source's last reference.
    let record = membership.end { core in core?.removeSource(number) }
    record??.closeSignal()
  }

  /// What to poll a descriptor for.
  var polledConditions: UInt32 {
    switch kind {
    case .custom: 0
    case .descriptor(_, let conditions, _): conditions.intersection([.readable, .writable]).rawValue
    case .signal: UNDEAD_LOOP_READABLE
    }
  }

  /// The descriptor to poll, nil for a source that is signalled by a call. That of a signal is opened.
  fileprivate func openDescriptor() throws(RunLoopError) -> Int32? {
    switch kind {
    case .custom: return nil
    case .descriptor(let descriptor, _, _): return descriptor
    case .signal(let signal, _):
      let descriptor = undead_loop_signal_open(signal)
      if descriptor < 0 { throw .unusableSignal(signal: signal, errno: -descriptor) }
      return descriptor
    }
  }

  fileprivate func handle(_ conditions: Conditions, _ descriptor: Int32 = -1) {
    switch kind {
    case .custom(let perform): perform(self)
    case .descriptor(_, _, let handler): handler(self, conditions)
    case .signal(_, let handler):
      undead_loop_drain(descriptor)
      handler(self)
    }
  }
}

extension SourceTable.Record {
  /// Lets go of the descriptor of a signal.
  func closeSignal() {
    if case .signal(let signal, _) = source.kind, let polled { undead_loop_signal_close(signal, polled.descriptor) }
  }
}

extension LoopCore {
  /// Puts a source into a mode. The caller holds the lock.
  fileprivate func add(_ source: TrackedRunLoopSource, descriptor: Int32?, mode: Int32) -> Membership.Outcome {
    let modes = expand(mode)
    let outcome = source.membership.join(self) {
      let error = insert(source, descriptor: descriptor, modes: modes)
      return error == 0 ? nil : .unusable(descriptor: descriptor ?? -1, errno: error)
    } widen: {
      guard state.pointee.sources.add(source.number, to: modes) else { return false }
      if let descriptor = state.pointee.sources.descriptor(of: source.number) { syncPolled(descriptor: descriptor) }
      return true
    }
    switch outcome {
    case .added, .widened: state.pointee.sleep.noteWork()
    case .alreadyThere, .refused: break
    }
    return outcome
  }
}

extension TrackedRunLoop {
  /// Adds a source to a mode. A descriptor may have several sources, for reading, for writing, in the same mode or in others.
  ///
  /// - Returns: whether the mode is new to the source.
  /// - Throws: `RunLoopError.unusableDescriptor` for a closed descriptor or a regular file, `.unusableSignal`,
  ///   `.invalidated`, `.belongsToAnotherLoop`, or `.loopFinished`.
  @discardableResult
  public func add(_ source: TrackedRunLoopSource, forMode mode: Mode = .default) throws(RunLoopError) -> Bool {
    let descriptor = try source.openDescriptor()
    let outcome = core.withLock { core.add(source, descriptor: descriptor, mode: mode.index) }
    if case .added = outcome { return true }
    // The source has not got this one.
    if case .signal(let signal, _) = source.kind, let descriptor { undead_loop_signal_close(signal, descriptor) }
    return try isNew(outcome, "source")
  }

  /// Takes a source out of a mode; out of its last one, it may be added to another loop.
  public func remove(_ source: TrackedRunLoopSource, forMode mode: Mode) {
    let record = core.withLock { () -> SourceTable.Record? in
      guard source.membership.isMember(of: core) else { return nil }
      let descriptor = core.state.pointee.sources.descriptor(of: source.number)
      let record = core.state.pointee.sources.remove(source.number, from: core.expand(mode.index))
      if let descriptor { core.syncPolled(descriptor: descriptor) }
      if record != nil { source.membership.leave() }
      return record
    }
    record?.closeSignal()
  }

  /// Whether a source is in a mode of this loop.
  package func contains(_ source: TrackedRunLoopSource, forMode mode: Mode) -> Bool {
    core.withLock {
      source.membership.isMember(of: core) && core.state.pointee.sources.contains(source.number, in: mode.index)
    }
  }

  /// Calls the signalled sources of a mode. Returns whether there were any.
  func performSignalled(_ mode: Int32) -> Bool {
    guard core.withLock({ core.state.pointee.sources.hasSignalled(in: mode) }) else { return false }
    var handled = false
    for (source, number) in core.withLock({ core.state.pointee.sources.signalled(in: mode) }) {
      let isDue = core.withLock { () -> Bool in
        guard core.state.pointee.sources.takeSignal(number, in: mode) else { return false }
        source.isSignalled = false
        return true
      }
      guard isDue else { continue }
      Diagnostics.watching(self, .source) { source.handle([]) }
      handled = true
    }
    return handled
  }

  /// Calls the sources that an event is for, if they are still there. Returns whether one was called.
  func handleDescriptor(_ event: undead_loop_event, _ mode: Int32) -> Bool {
    var isStale = false
    var handled = false
    let waiters = core.withLock { () -> [SourceTable.Waiter] in
      guard let found = core.state.pointee.polled.descriptor(of: event.token, wait: event.wait) else {
        if core.state.pointee.polled.isLost(event.token) { core.forgetLostDescriptors() }
        return []
      }
      isStale = found.isStale
      return core.state.pointee.sources.waiters(for: found.descriptor, event.conditions, in: mode)
    }
    for waiter in waiters {
      guard core.withLock({ core.state.pointee.sources.contains(waiter.number, in: mode) }) else { continue }
      var conditions = event.conditions
      // Somebody has dealt with it since, or the event is older than the source.
      if isStale || handled || Int32(truncatingIfNeeded: waiter.polled.since &- event.wait) >= 0 {
        conditions = undead_loop_ready(waiter.polled.descriptor, waiter.polled.conditions)
      }
      conditions &= waiter.polled.conditions
      if conditions == 0 { continue }
      Diagnostics.watching(self, .source) {
        waiter.source.handle(.init(rawValue: conditions), waiter.polled.descriptor)
      }
      handled = true
    }
    return handled
  }
}
#endif
