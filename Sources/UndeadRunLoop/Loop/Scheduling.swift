#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import FoundationEssentials

extension TrackedRunLoop {
  /// Adds a timer to a mode; it fires while the loop runs in that mode.
  ///
  /// Adding it to the same mode again changes nothing. In two modes it still fires once for each due date. Added to
  /// `.common` it is in every mode that is common, now or later.
  ///
  /// - Returns: whether the mode is new to the timer.
  /// - Throws: `RunLoopError.invalidated`, `.belongsToAnotherLoop`, `.loopFinished`, or `.tooManyTimers`. Diagnostics report
  ///   refusals.
  @discardableResult
  public func add(_ timer: TrackedTimer, forMode mode: Mode = .default) throws(RunLoopError) -> Bool {
    if Diagnostics.isOn { Diagnostics.willSchedule(timer) }
    do {
      return try isNew(core.add(timer, mode: mode.index), timer.reportName)
    } catch {
      Diagnostics.report(.timerRefused, "\(error)", loop: name, timer: timer)
      throw error
    }
  }

  /// Whether an item is in a mode in which it was not before.
  ///
  /// - Throws: why it was refused.
  func isNew(_ outcome: Membership.Outcome, _ item: @autoclosure () -> String) throws(RunLoopError) -> Bool {
    switch outcome {
    case .added, .widened: return true
    case .alreadyThere: return false
    case .refused(.finished): throw .loopFinished(loop: name)
    case .refused(.over): throw .invalidated(item: item())
    case .refused(.full): throw .tooManyTimers(limit: DueKey.slotLimit)
    case .refused(.unusable(let descriptor, let error)): throw .unusableDescriptor(descriptor: descriptor, errno: error)
    case .refused(.elsewhere(let bits)):
      throw .belongsToAnotherLoop(item: item(), loop: LoopCore(bits: bits)?.name ?? "")
    }
  }

  /// Takes a timer out of one mode; out of its last one, it may be added to another loop, in its own callback only once that
  /// has returned. It stays valid.
  public func remove(_ timer: TrackedTimer, forMode mode: Mode) { core.remove(timer, mode: mode.index)?.release() }

  /// Whether a timer is in a mode of this loop.
  package func contains(_ timer: TrackedTimer, forMode mode: Mode) -> Bool {
    timer.withHome { home in
      guard let home, home.bits == core.bits, timer.slot >= 0 else { return false }
      return core.state.pointee.timers.modes(of: timer).contains(mode.index)
    }
  }

  /// Declares a mode common: whatever was or will be added to `.common` is in it too.
  public func addCommonMode(_ mode: Mode) { core.withLock { core.addCommonMode(mode.index) } }

  /// The modes that `.common` stands for: the default and the tracking mode, and those declared since.
  var commonModes: Set<Mode> {
    core.withLock { Set(core.state.pointee.commonModes.map(Mode.init(index:))) }
  }

  /// Calls a block once, after a duration.
  ///
  /// - Returns: the timer, to cancel it or to change its date.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @discardableResult
  public func schedule(
    after delay: Duration, mode: Mode = .default, _ block: consuming @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let interval = try Instants.nanoseconds(of: delay)
    let timer = TrackedTimer(interval: interval, repeats: false, action: .block(consume block))
    try start(new: timer, mode)
    return timer
  }

  /// Calls a block repeatedly.
  ///
  /// - Returns: the timer; the loop keeps it until it is invalidated.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @discardableResult
  public func schedule(
    every interval: Duration, mode: Mode = .default,
    _ block: consuming @escaping @Sendable (TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let period = try Instants.nanoseconds(of: interval)
    let timer = TrackedTimer(interval: period, repeats: true, action: .block(consume block))
    try start(new: timer, mode)
    return timer
  }

  /// Calls a block repeatedly with an owner that is held weakly; the timer ends by itself when the owner is gone.
  ///
  /// - Returns: the timer.
  /// - Throws: `RunLoopError.invalidInterval`, or why the loop refused the timer.
  @discardableResult
  public func schedule<Owner: AnyObject & Sendable>(
    every interval: Duration, weak owner: Owner, mode: Mode = .default,
    _ action: @escaping @Sendable (Owner, TrackedTimer) throws -> Void
  ) throws(RunLoopError) -> TrackedTimer {
    let timer = try TrackedTimer(after: interval, target: owner, holding: .weak, repeats: true, action: action)
    timer.endsWithTarget = true
    return try start(timer, mode)
  }

  /// Whether it is the innermost loop that the calling thread runs.
  private var isRunningHere: Bool { undead_loop_running() == Unmanaged.passUnretained(self).toOpaque() }

  /// Adds a timer that nobody else has seen yet. It returns nothing: a result would have to be retained.
  private func start(new timer: TrackedTimer, _ mode: Mode) throws(RunLoopError) {
    if Diagnostics.isOn { Diagnostics.willSchedule(timer) }
    if case .added = core.add(new: timer, mode: mode.index, isForeign: !isRunningHere) { return }
    try add(timer, forMode: mode)
  }

  func start(_ timer: TrackedTimer, _ mode: Mode) throws(RunLoopError) -> TrackedTimer {
    try add(timer, forMode: mode)
    return timer
  }
}

extension TrackedTimer {
  /// Whether the timer invalidates itself at the first tick after its weak target died. False by default: the timer then
  /// goes on ticking for nobody, which diagnostics report.
  public var endsWithTarget: Bool {
    get { withHome { _ in flags.contains(.endsWithTarget) } }
    set { withHome { _ in if newValue { flags.insert(.endsWithTarget) } else { flags.remove(.endsWithTarget) } } }
  }
}
#endif
