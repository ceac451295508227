#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

/// A thread of its own with a loop that runs until ``stop()``: for actors, tasks, and whatever must not wait for others.
///
/// All members are safe to call from any thread.
public final class RunLoopThread: Sendable {
  /// The thread's loop.
  public let loop: TrackedRunLoop

  /// Starts the thread. If the system refuses it, its loop has ended, and diagnostics report that.
  ///
  /// - Parameters:
  ///   - name: of the loop, and, cut to 15 bytes, of the thread; "thread" and a number if it is empty.
  ///   - clock: the clock the loop's timers live by.
  public init(name: String = "", clock: RunLoopClock = .monotonic) {
    loop = TrackedRunLoop(name: name, clock: clock, kind: .thread)
    loop.core.withLock { [loop] in loop.core.state.pointee.isAnchored = true }
    let error = Self.start(loop)
    if error != 0 {
      loop.finish()
      Diagnostics.report(
        .threadFailed,
        "no thread for \(loop) could be started (errno \(error)): end some threads, or raise the limits of the process",
        loop: loop.name)
    }
  }

  deinit { stop() }

  /// Ends the thread after what it is doing now, also the nested runs of its loop; timers that are left are detached and
  /// reported. May be called twice. A callback that runs the loop until a condition holds must ask for the result, too: a
  /// run that begins after the stop returns `.finished` at once.
  public func stop() {
    loop.core.withLock {
      loop.core.state.pointee.activations.stopForGood()
      loop.core.state.pointee.sleep.noteWork()
    }
  }

  /// The thread holds the loop and not the `RunLoopThread`, so that dropping that ends it. Returns the number of the error.
  private static func start(_ loop: TrackedRunLoop) -> Int32 {
    let reference = Unmanaged.passRetained(loop)
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        RunLoopThread.main(Unmanaged<TrackedRunLoop>.fromOpaque(argument).takeRetainedValue())
        return nil
      }, reference.toOpaque())
    if error == 0 { pthread_detach(thread) } else { reference.release() }
    return error
  }

  private static func main(_ loop: TrackedRunLoop) {
    undead_loop_set_thread_name(loop.name)
    loop.belongToThisThread()
    while !loop.core.withLock({ loop.core.state.pointee.activations.isStoppedForGood }) {
      if loop.run(mode: .default, deadline: .max, returnAfterSource: false) == .finished { break }
    }
  }
}
#endif
