import CUndeadRunLoop
import Synchronization

/// Something that a run loop waits for: a descriptor, a signal, or a call of ``signal()``.
///
/// All members are safe to call from any thread; handlers are called on the loop's thread.
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

  private struct State {
    var home: LoopCore?
    var isValid = true
    var signalDescriptor: Int32 = -1
  }

  let kind: Kind
  /// Signalled sources are called from the lowest order to the highest.
  public let order: Int
  let isSignalled = Atomic(false)
  private let state = Locked(State())

  private init(kind: Kind, order: Int = 0) {
    self.kind = kind
    self.order = order
  }

  deinit { closeSignal() }

  /// A source that is ready when somebody called ``signal()``.
  ///
  /// - Parameters:
  ///   - order: signalled sources are called from the lowest to the highest.
  ///   - perform: called once for any number of signals since the last call.
  public convenience init(order: Int = 0, perform: @escaping @Sendable (TrackedRunLoopSource) -> Void) {
    self.init(kind: .custom(perform), order: order)
  }

  /// A source that is ready when a descriptor is. The descriptor stays the caller's: invalidate the source, then close it.
  ///
  /// - Parameters:
  ///   - descriptor: a socket, pipe, terminal, eventfd or the like; not a regular file, which is always ready.
  ///   - conditions: what to wait for. A condition that is not dealt with is reported again.
  ///   - handler: called with the conditions that hold.
  public convenience init(
    descriptor: Int32, conditions: Conditions,
    handler: @escaping @Sendable (TrackedRunLoopSource, Conditions) -> Void
  ) {
    self.init(kind: .descriptor(descriptor, conditions, handler))
  }

  /// A source that is ready when the process receives a signal. While the source is in a loop, the signal does nothing else.
  ///
  /// - Parameters:
  ///   - signal: its number.
  ///   - handler: called once for any number of arrivals since the last call.
  public convenience init(signal: Int32, handler: @escaping @Sendable (TrackedRunLoopSource) -> Void) {
    self.init(kind: .signal(signal, handler))
  }

  /// Whether the source can still be called.
  public var isValid: Bool { state.withLock { $0.isValid } }

  /// Makes a source of the first kind ready and wakes its loop. Signals before the call to its block count once.
  public func signal() {
    isSignalled.store(true, ordering: .releasing)
    guard let home = state.withLock({ $0.home }) else { return }
    home.withLock { home.state.pointee.sleep.noteWork() }
  }

  /// Takes the source out of its loop for good. May be called twice and in the handler.
  public func invalidate() {
    let home = state.withLock { state -> LoopCore? in
      state.isValid = false
      defer { state.home = nil }
      return state.home
    }
    home?.forget(self)
    closeSignal()
  }

  func loopEnded() {
    state.withLock { $0.home = nil }
    closeSignal()
  }

  fileprivate func claim(for loop: TrackedRunLoop) throws(RunLoopError) {
    try state.withLock { state throws(RunLoopError) in
      if !state.isValid { throw .invalidated(item: "source") }
      if let home = state.home, home != loop.core {
        throw .belongsToAnotherLoop(item: "source", loop: home.name)
      }
      if case .signal(let signal, _) = kind, state.signalDescriptor < 0 {
        let descriptor = undead_loop_signal_open(signal)
        if descriptor < 0 { throw .unusableSignal(signal: signal, errno: -descriptor) }
        state.signalDescriptor = descriptor
      }
      state.home = loop.core
    }
  }

  fileprivate func unclaim() { loopEnded() }

  private func closeSignal() {
    let descriptor = state.withLock { state -> Int32 in
      defer { state.signalDescriptor = -1 }
      return state.signalDescriptor
    }
    if descriptor >= 0, case .signal(let signal, _) = kind { undead_loop_signal_close(signal, descriptor) }
  }

  /// What to poll for this source, nil for one that is signalled by a call.
  fileprivate var polled: (descriptor: Int32, conditions: UInt32)? {
    switch kind {
    case .custom: nil
    case .descriptor(let descriptor, let conditions, _):
      (descriptor, conditions.intersection([.readable, .writable]).rawValue)
    case .signal: (state.withLock { $0.signalDescriptor }, UNDEAD_LOOP_READABLE)
    }
  }

  fileprivate func handle(_ conditions: Conditions) {
    switch kind {
    case .custom(let perform): perform(self)
    case .descriptor(_, _, let handler): handler(self, conditions)
    case .signal(_, let handler):
      undead_loop_drain(state.withLock { $0.signalDescriptor })
      handler(self)
    }
  }
}

struct SourceRecord {
  let source: TrackedRunLoopSource
  let token: UInt64
  var modes: [Int32]
  /// The descriptor that the poll knows for this source, -1 if none.
  var polledDescriptor: Int32 = -1

  mutating func widen(by mode: Int32) {
    if modes.contains(ModeTable.commonMode) { _ = modes.formUnionReporting([mode]) }
  }

  func isSignalled(in mode: Int32) -> Bool {
    modes.contains(mode) && source.isSignalled.load(ordering: .acquiring)
  }
}

extension TrackedRunLoop {
  /// Adds a source to a mode.
  ///
  /// - Returns: whether the mode is new to the source.
  /// - Throws: `RunLoopError.unusableDescriptor` for a closed descriptor or a regular file, `.unusableSignal`,
  ///   `.invalidated`, `.belongsToAnotherLoop`, or `.loopFinished`.
  @discardableResult
  public func add(_ source: TrackedRunLoopSource, forMode mode: Mode) throws(RunLoopError) -> Bool {
    try source.claim(for: self)
    do {
      return try core.withLock { () throws(RunLoopError) -> Bool in
        if core.state.pointee.isFinished { throw .loopFinished(loop: name) }
        let modes = core.expand(mode.index)
        if let known = core.state.pointee.sources.firstIndex(where: { $0.source === source }) {
          core.state.pointee.sleep.noteWork()
          return core.state.pointee.sources[known].modes.formUnionReporting(modes)
        }
        try core.insert(source, modes)
        core.state.pointee.sleep.noteWork()
        return true
      }
    } catch {
      source.unclaim()
      throw error
    }
  }

  /// Takes a source out of a mode; out of its last one, it may be added to another loop.
  public func remove(_ source: TrackedRunLoopSource, forMode mode: Mode) {
    let isGone = core.withLock { () -> Bool in
      guard let known = core.state.pointee.sources.firstIndex(where: { $0.source === source }) else { return false }
      core.state.pointee.sources[known].modes.removeAll(where: core.expand(mode.index).contains)
      guard core.state.pointee.sources[known].modes.isEmpty else {
        if let mode = core.state.pointee.activations.mode { core.syncPolled(mode) }
        return false
      }
      core.stopPolling(core.state.pointee.sources.remove(at: known))
      return true
    }
    if isGone { source.unclaim() }
  }

  /// Whether a source is in a mode of this loop.
  public func contains(_ source: TrackedRunLoopSource, forMode mode: Mode) -> Bool {
    core.withLock { core.state.pointee.sources.contains { $0.source === source && $0.modes.contains(mode.index) } }
  }

  /// Calls the signalled sources of a mode. Returns whether there were any.
  func performSignalled(_ mode: Int32) -> Bool {
    let signalled = core.withLock { () -> [TrackedRunLoopSource] in
      if core.state.pointee.sources.isEmpty { return [] }
      return core.state.pointee.sources.filter { $0.isSignalled(in: mode) }.map(\.source)
    }
    var handled = false
    for source in signalled.sorted(by: { $0.order < $1.order }) where source.isValid {
      guard source.isSignalled.exchange(false, ordering: .acquiringAndReleasing) else { continue }
      Diagnostics.watching(self, .source) { source.handle([]) }
      handled = true
    }
    return handled
  }

  /// Calls the source that an event is for, if it is still there. Returns whether it was.
  func handleDescriptor(_ event: undead_loop_event, _ mode: Int32) -> Bool {
    let source = core.withLock {
      core.state.pointee.sources.first { $0.token == event.token && $0.modes.contains(mode) }?.source
    }
    guard let source, source.isValid else { return false }
    Diagnostics.watching(self, .source) { source.handle(.init(rawValue: event.conditions)) }
    return true
  }

  /// Drops sources whose descriptor was closed under them. The caller holds the lock.
  func checkDescriptors() {
    for record in core.state.pointee.sources {
      guard case .descriptor(let descriptor, _, _) = record.source.kind, !undead_loop_is_open(descriptor) else {
        continue
      }
      core.state.pointee.sources.removeAll { $0.token == record.token }
      core.append(
        .block(
          { [self] in
            record.source.invalidate()
            Diagnostics.report(
              .descriptorClosed, "descriptor \(descriptor) was closed while it was a source of \(self)",
              loop: name)
          }, nil), modes: [ModeTable.commonMode])
    }
  }
}

extension LoopCore {
  /// Adds a source and tries its descriptor. The caller holds the lock.
  fileprivate func insert(_ source: TrackedRunLoopSource, _ modes: [Int32]) throws(RunLoopError) {
    let token = state.pointee.nextSourceToken
    var record = SourceRecord(source: source, token: token, modes: modes)
    if let (descriptor, conditions) = source.polled {
      state.pointee.poller.open()
      let error = undead_loop_poll_set(state.pointee.poller.poll, descriptor, conditions, token, false)
      if error != 0 { throw .unusableDescriptor(descriptor: descriptor, errno: -error) }
      record.polledDescriptor = descriptor
    }
    state.pointee.nextSourceToken += 1
    state.pointee.sources.append(record)
  }

  /// Makes the poll know the sources of `mode` and no others. The caller holds the lock.
  func syncPolled(_ mode: Int32) {
    let state = state
    for index in state.pointee.sources.indices {
      let record = state.pointee.sources[index]
      let isWanted = record.modes.contains(mode)
      if isWanted == (record.polledDescriptor >= 0) { continue }
      if !isWanted {
        stopPolling(record)
        state.pointee.sources[index].polledDescriptor = -1
      } else if let (descriptor, conditions) = record.source.polled {
        let error = undead_loop_poll_set(state.pointee.poller.poll, descriptor, conditions, record.token, false)
        if error == 0 { state.pointee.sources[index].polledDescriptor = descriptor }
      }
    }
    syncMainQueue(mode)
  }

  /// Polls Dispatch's main queue in the common modes. The caller holds the lock.
  private func syncMainQueue(_ mode: Int32) {
    guard state.pointee.poller.servesMainQueue else { return }
    let isWanted = state.pointee.commonModes.contains(mode)
    guard isWanted != state.pointee.mainQueuePolled else { return }
    state.pointee.mainQueuePolled = isWanted
    undead_loop_poll_set(
      state.pointee.poller.poll, undead_loop_main_queue_descriptor(), isWanted ? UNDEAD_LOOP_READABLE : 0,
      Poller.Token.mainQueue, false)
  }

  fileprivate func forget(_ source: TrackedRunLoopSource) {
    // Released without the lock: it may be the source's last reference.
    let record = withLock { () -> SourceRecord? in
      guard let known = state.pointee.sources.firstIndex(where: { $0.source === source }) else { return nil }
      stopPolling(state.pointee.sources[known])
      return state.pointee.sources.remove(at: known)
    }
    withExtendedLifetime(record) {}
  }

  func stopPolling(_ record: SourceRecord) {
    if record.polledDescriptor >= 0 {
      undead_loop_poll_set(state.pointee.poller.poll, record.polledDescriptor, 0, record.token, true)
    }
  }
}
