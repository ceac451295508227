import CUndeadRunLoop
import Glibc

/// A thread of its own with a loop that runs until ``stop()``: for actors, tasks, and whatever must not wait for others.
///
/// All members are safe to call from any thread.
public final class RunLoopThread: Sendable {
  /// What the thread holds: not the `RunLoopThread`, so that dropping that ends the thread.
  private final class Life: Sendable {
    let loop: TrackedRunLoop

    init(_ loop: TrackedRunLoop) { self.loop = loop }
  }

  private let life: Life

  /// The thread's loop.
  public var loop: TrackedRunLoop { life.loop }

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: of the loop, and, cut to 15 bytes, of the thread; "thread" and a number if it is empty.
  ///   - clock: the clock the loop's timers live by.
  public init(name: String = "", clock: any RunLoopClock = MonotonicClock.shared) {
    let life = Life(TrackedRunLoop(name: name, clock: clock, kind: .thread))
    self.life = life
    life.loop.core.withLock { life.loop.core.state.pointee.isAnchored = true }
    Self.start(life)
  }

  deinit { stop() }

  /// Ends the thread after what it is doing now, also the nested runs of its loop; timers that are left are detached and
  /// reported. May be called twice.
  public func stop() {
    let core = life.loop.core
    core.withLock {
      core.state.pointee.activations.stopForGood()
      core.state.pointee.sleep.noteWork()
    }
  }

  private static func start(_ life: Life) {
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        RunLoopThread.main(Unmanaged<Life>.fromOpaque(argument).takeRetainedValue())
        return nil
      }, Unmanaged.passRetained(life).toOpaque())
    if error == 0 {
      pthread_detach(thread)
    } else {
      Unmanaged.passUnretained(life).release()
      life.loop.finish()
      Diagnostics.report(
        .threadFailed, "no thread for \(life.loop): pthread_create failed with \(error)", loop: life.loop.name)
    }
  }

  private static func main(_ life: Life) {
    undead_loop_set_thread_name(life.loop.name)
    life.loop.belongToThisThread()
    let core = life.loop.core
    while !core.withLock({ core.state.pointee.activations.isStoppedForGood }) {
      if life.loop.run(mode: .default, deadline: .max, returnAfterSource: false) == .finished { break }
    }
  }
}
