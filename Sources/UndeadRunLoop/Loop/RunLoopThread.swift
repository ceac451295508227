#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

/// A thread of its own with a loop that runs until ``stop()``: for actors, tasks, and whatever must not wait for others.
///
/// All members are safe to call from any thread.
public final class RunLoopThread: Sendable {
  /// What the thread holds: not the `RunLoopThread`, so that dropping that ends the thread.
  private final class Life: Sendable {
    let loop: TrackedRunLoop
    let settings: Settings
    /// Somebody waits to hear whether the thread has what was asked for.
    let started = Completion()
    let refusal = Locked<RunLoopError?>(nil)

    init(_ loop: TrackedRunLoop, _ settings: Settings) {
      self.loop = loop
      self.settings = settings
    }
  }

  private let life: Life

  /// The thread's loop.
  public var loop: TrackedRunLoop { life.loop }

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: of the loop, and, cut to 15 bytes, of the thread; "thread" and a number if it is empty.
  ///   - clock: the clock the loop's timers live by.
  public convenience init(name: String = "", clock: any RunLoopClock = MonotonicClock.shared) {
    self.init(name, clock, Settings())
    if let error = Self.start(life) {
      Diagnostics.report(.threadFailed, "no thread for \(loop): \(error)", loop: loop.name)
    }
  }

  /// Starts the thread with a priority and a stack of its own, and waits until it has them.
  ///
  /// - Parameters:
  ///   - name: of the loop, and, cut to 15 bytes, of the thread; "thread" and a number if it is empty.
  ///   - clock: the clock the loop's timers live by.
  ///   - settings: the priority and the stack.
  /// - Throws: `RunLoopError.invalidStackSize`, `.priorityRefused`, or `.threadFailed`.
  public convenience init(
    name: String = "", clock: any RunLoopClock = MonotonicClock.shared, settings: Settings
  ) throws(RunLoopError) {
    try settings.check()
    self.init(name, clock, settings)
    if let error = Self.start(life) { throw error }
    _ = life.started.wait()
    if let refusal = life.refusal.withLock({ $0 }) { throw refusal }
  }

  private init(_ name: String, _ clock: any RunLoopClock, _ settings: Settings) {
    life = Life(TrackedRunLoop(name: name, clock: clock, kind: .thread), settings)
    life.loop.core.withLock { [life] in life.loop.core.state.pointee.isAnchored = true }
  }

  deinit { stop() }

  /// Ends the thread after what it is doing now, also the nested runs of its loop; timers that are left are detached and
  /// reported. May be called twice. A callback that runs the loop until a condition holds must ask for the result, too: a
  /// run that begins after the stop returns `.finished` at once.
  public func stop() {
    let core = life.loop.core
    core.withLock {
      core.state.pointee.activations.stopForGood()
      core.state.pointee.sleep.noteWork()
    }
  }

  /// Returns why there is no thread.
  private static func start(_ life: Life) -> RunLoopError? {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    if let size = life.settings.stackSize { pthread_attr_setstacksize(&attributes, size) }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, &attributes,
      { @Sendable argument in
        guard let argument else { return nil }
        RunLoopThread.main(Unmanaged<Life>.fromOpaque(argument).takeRetainedValue())
        return nil
      }, Unmanaged.passRetained(life).toOpaque())
    if error == 0 {
      pthread_detach(thread)
      return nil
    }
    Unmanaged.passUnretained(life).release()
    life.loop.finish()
    return .threadFailed(errno: error)
  }

  private static func main(_ life: Life) {
    undead_loop_set_thread_name(life.loop.name)
    life.loop.belongToThisThread()
    let refusal = life.settings.takeEffect()
    life.refusal.withLock { $0 = refusal }
    life.started.finish()
    if refusal != nil { return }
    let core = life.loop.core
    while !core.withLock({ core.state.pointee.activations.isStoppedForGood }) {
      if life.loop.run(mode: .default, deadline: .max, returnAfterSource: false) == .finished { break }
    }
  }
}
#endif
