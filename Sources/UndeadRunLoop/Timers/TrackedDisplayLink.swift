#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import Synchronization

/// Calls a target once for each frame; what `CADisplayLink` is, with frames from a ``FrameSource``.
///
/// The loop holds the link and the link holds its target strongly until it is invalidated, as with `CADisplayLink`: use a
/// ``WeakProxy`` as the target where the owner should be free to die. A link is in one loop, in any number of modes.
/// Frames that could not be served in time are skipped, never bunched, and counted: ``droppedFrames``.
///
/// All members are safe to call from any thread.
public final class TrackedDisplayLink: Sendable {
  private struct State {
    /// Not held: the loop holds the link.
    var loop: KnownLoop?
    var modes: [TrackedRunLoop.Mode] = []
    var timer: TrackedTimer?
    var target: TimerTarget?
    var listener: Int?
    var isPaused = false
    var preferred = 0
    var name = ""
    var frameCount = 0
    var dropped = 0
    /// A frame of a source that cannot be predicted, on its way to the loop. Those that come meanwhile replace it.
    var waiting: Int64?
    /// Changes when the modes do: what is on its way in the old ones is for nobody.
    var journey = 0
    var timestamp: Int64 = 0
    var targetTimestamp: Int64 = 0

    mutating func noteOtherModes() {
      waiting = nil
      journey &+= 1
    }
  }

  // The target is called on the loop's thread only.
  private struct Guarded: @unchecked Sendable { var state = State() }
  private let guarded = Locked(Guarded())
  private let source: FrameSource
  private let frameStep = Atomic(1)

  /// A link that calls an action of a target for each frame; add it to a loop to start it.
  ///
  /// - Parameters:
  ///   - target: held strongly until ``invalidate()``.
  ///   - source: where frames come from; 60 a second by default.
  ///   - selector: name of the action, for reports.
  ///   - action: called with the target and the display link at each frame.
  public init<Target: AnyObject & Sendable>(
    target: Target, source: FrameSource = TimedFrameSource(), selector: String = "",
    action: @escaping @Sendable (Target, TrackedDisplayLink) -> Void
  ) {
    self.source = source
    let box = LinkBox()
    let made = StrongTarget(target, selector) { target, _ in
      // It is called with the target that it was given, here.
      if let link = box.link { action(unsafeDowncast(target, to: Target.self), link) }
    }
    guarded.withLock { $0.state.target = made }
    box.link = self
  }

  deinit { invalidate() }

  /// Adds the link to a mode of a loop.
  ///
  /// - Returns: whether the mode is new to the link.
  /// - Throws: `RunLoopError.invalidated`, `.belongsToAnotherLoop`, `.loopFinished`, or `.tooManyTimers`.
  @discardableResult
  public func add(
    to loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode = .default
  ) throws(RunLoopError) -> Bool {
    // What is asked of the source is asked without the lock: it may use the link.
    let made = guarded.withLock({ $0.state.target != nil && $0.state.loop == nil }) ? makeTimer() : nil
    let (timer, other) = guarded.withLock { guarded -> (TrackedTimer?, LoopIdentity?) in
      guard guarded.state.target != nil else { return (nil, nil) }
      if let home = guarded.state.loop {
        guard home.isSame(as: loop) else { return (nil, home.identity) }
      } else {
        guard let made else { return (nil, nil) }
        made.name = guarded.state.name
        guarded.state.loop = KnownLoop(loop)
        guarded.state.timer = made
      }
      if !guarded.state.modes.contains(mode) {
        guarded.state.modes.append(mode)
        guarded.state.noteOtherModes()
      }
      return (guarded.state.timer, nil)
    }
    if let made {
      if timer === made { listen() } else { made.invalidate() }
    }
    if let other { throw .belongsToAnotherLoop(item: reportName, loop: other.name) }
    guard let timer else { throw .invalidated(item: reportName) }
    let isNew: Bool
    do {
      isNew = try loop.add(timer, forMode: mode)
    } catch {
      leave()
      throw error
    }
    reschedule()
    return isNew
  }

  private var reportName: String {
    let name = name
    return name.isEmpty ? "display link" : "display link \"\(name)\""
  }

  /// Takes the link out of a mode; out of its last one, it may be added to another loop.
  public func remove(from loop: TrackedRunLoop, forMode mode: TrackedRunLoop.Mode) {
    let (timer, isOut) = guarded.withLock { guarded -> (TrackedTimer?, Bool) in
      guard guarded.state.loop?.isSame(as: loop) == true else { return (nil, false) }
      guarded.state.modes.removeAll { $0 == mode }
      guarded.state.noteOtherModes()
      return (guarded.state.timer, guarded.state.modes.isEmpty)
    }
    if let timer { loop.remove(timer, forMode: mode) }
    if isOut { leave() }
  }

  /// Ends the link and releases its target. May be called twice and in the callback.
  public func invalidate() {
    let target = guarded.withLock { guarded -> TimerTarget? in
      defer { guarded.state.target = nil }
      return guarded.state.target
    }
    leave()
    withExtendedLifetime(target) {}
  }

  /// The link's name in reports.
  public var name: String {
    get { guarded.withLock { $0.state.name } }
    set {
      let timer = guarded.withLock { guarded in
        guarded.state.name = newValue
        return guarded.state.timer
      }
      timer?.name = newValue
    }
  }

  /// Whether the link can still call its target.
  public var isValid: Bool { guarded.withLock { $0.state.target != nil } }

  /// Whether frames are left out; the link stays in its loop.
  public var isPaused: Bool {
    get { guarded.withLock { $0.state.isPaused } }
    set {
      guarded.withLock { $0.state.isPaused = newValue }
      reschedule()
    }
  }

  /// How many frames a second are wanted: 0 for as many as there are, else the nearest rate that divides that.
  public var preferredFramesPerSecond: Int {
    get { guarded.withLock { $0.state.preferred } }
    set {
      guarded.withLock { $0.state.preferred = max(0, newValue) }
      frameStep.store(frameInterval(for: max(0, newValue)), ordering: .relaxed)
      reschedule()
    }
  }

  /// Every how many frames the target is called.
  var frameInterval: Int { frameStep.load(ordering: .relaxed) }

  private func frameInterval(for preferred: Int) -> Int {
    let rate = rate
    if preferred == 0 || preferred >= rate { return 1 }
    let divisors = (1...rate).filter { rate % $0 == 0 }
    return divisors.min { abs(rate / $0 - preferred) < abs(rate / $1 - preferred) } ?? 1
  }

  /// When the present frame began, by the loop's clock.
  public var timestamp: Duration { Instants.duration(guarded.withLock { $0.state.timestamp }) }

  /// When the next frame that the target is called for begins.
  public var targetTimestamp: Duration { Instants.duration(guarded.withLock { $0.state.targetTimestamp }) }

  /// The time between two frames of the source.
  public var duration: Duration { .seconds(1) / rate }

  /// How many frames that the target wanted were left out, because a callback of the loop took too long or its modes did
  /// not run, since the link was made.
  public var droppedFrames: Int { guarded.withLock { $0.state.dropped } }

  /// Of the source, which need not be well-behaved.
  private var rate: Int { max(1, source.framesPerSecond) }

  private func makeTimer() -> TrackedTimer {
    // The loop holds the timer, its block holds the link, and the link holds the target.
    let timer = TrackedTimer(
      interval: Int64(1e9) / Int64(rate), repeats: true,
      action: .block { [self] timer in frame(due: timer.withHome { _ in timer.due }) })
    timer.makeExtras().displayLink = Unmanaged.passUnretained(self)
    timer.makeExtras().ended = { [weak self] reason in if reason == .loopEnded { self?.leave() } }
    return timer
  }

  private func listen() {
    let listener = source.add { [weak self] timestamp in self?.frameBegan(timestamp) }
    let isWanted = guarded.withLock { guarded in
      guard guarded.state.loop != nil, guarded.state.listener == nil else { return false }
      guarded.state.listener = listener
      return true
    }
    if !isWanted { source.remove(listener) }
  }

  private func leave() {
    let (timer, listener) = guarded.withLock { guarded -> (TrackedTimer?, Int?) in
      defer {
        guarded.state.timer = nil
        guarded.state.loop = nil
        guarded.state.listener = nil
        guarded.state.modes = []
        guarded.state.noteOtherModes()
      }
      return (guarded.state.timer, guarded.state.listener)
    }
    timer?.invalidate()
    if let listener { source.remove(listener) }
  }

  /// A source that cannot be predicted has a frame: it is served on the loop's thread, in the link's modes.
  private func frameBegan(_ timestamp: Int64) {
    let interval = frameInterval
    let journey = guarded.withLock { guarded -> (KnownLoop, [TrackedRunLoop.Mode], Int)? in
      defer { guarded.state.frameCount += 1 }
      guard let loop = guarded.state.loop, guarded.state.frameCount % interval == 0 else { return nil }
      defer { guarded.state.waiting = timestamp }
      if guarded.state.waiting != nil {
        if !guarded.state.isPaused { guarded.state.dropped += 1 }
        return nil
      }
      return (loop, guarded.state.modes, guarded.state.journey)
    }
    guard let (loop, modes, number) = journey else { return }
    loop.enqueue(.block({ [self] in arrive(number) }, nil), modes: modes.map(\.index))
  }

  private func arrive(_ number: Int) {
    let timestamp = guarded.withLock { guarded -> Int64? in
      guard guarded.state.journey == number else { return nil }
      defer { guarded.state.waiting = nil }
      return guarded.state.waiting
    }
    if let timestamp { call(timestamp) }
  }

  private func frame(due: Int64) {
    let clock = guarded.withLock { $0.state.loop?.identity.clock }
    let begin = clock?.now ?? due
    call(due)
    let end = clock?.now ?? due
    let next = reschedule()
    if let next { noteDropped(between: due, and: next, own: Instants.subtract(end, begin)) }
  }

  private func call(_ timestamp: Int64) {
    let step = Int64(frameInterval) * (1_000_000_000 / Int64(rate))
    let next = nextFrame(after: timestamp, default: Instants.add(timestamp, step))
    let target = guarded.withLock { guarded -> (TimerTarget, TrackedTimer)? in
      guard !guarded.state.isPaused, let target = guarded.state.target, let timer = guarded.state.timer else {
        return nil
      }
      guarded.state.timestamp = timestamp
      guarded.state.targetTimestamp = next
      return (target, timer)
    }
    guard let (target, timer) = target else { return }
    if (try? target.call(timer)) == .targetGone { Diagnostics.firingForDeadTarget(timer, target.typeName) }
  }

  /// Moves the timer to the next frame that the target wants. Returns when that begins, nil if it is not known.
  @discardableResult
  private func reschedule() -> Int64? {
    let (timer, loop, isPaused, last) = guarded.withLock {
      ($0.state.timer, $0.state.loop, $0.state.isPaused, $0.state.timestamp)
    }
    guard let timer, let loop else { return nil }
    let due = isPaused ? .max : nextFrame(after: max(loop.identity.clock.now, last), default: .max)
    // A paused link stays paused when the clock is set.
    timer.withHome { core in
      if isPaused { core?.reschedule(timer, due: due, now: .min) } else { core?.reschedule(timer, onGrid: due) }
    }
    return due == .max ? nil : due
  }

  /// Counts the frames that the target wanted between two that it is called for.
  ///
  /// - Parameter own: nanoseconds that the target itself took for the first of them.
  private func noteDropped(between served: Int64, and next: Int64, own: Int64) {
    let step = Double(frameInterval) * 1e9 / Double(rate)
    let steps = (Double(Instants.subtract(next, served)) / step).rounded()
    guard steps >= 2, steps < Double(Int32.max) else { return }
    let dropped = Int(steps) - 1
    guarded.withLock { $0.state.dropped += dropped }
    if Diagnostics.isOn {
      Diagnostics.framesDropped(by: self, dropped, late: Instants.subtract(next, served), own: own)
    }
  }

  var home: KnownLoop? { guarded.withLock { $0.state.loop } }

  private func nextFrame(after instant: Int64, default unknown: Int64) -> Int64 {
    var next = instant
    for _ in 0..<frameInterval {
      next = source.frame(after: next)
      if next == .max { return unknown }
    }
    return next
  }
}

/// Lets the action that is made before the link find it. Set once, before the link can be called.
private final class LinkBox: @unchecked Sendable { weak var link: TrackedDisplayLink? }
#endif
