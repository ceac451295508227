import Dispatch
import FoundationEssentials
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Loops of threads that run them by hand, as people do who put a timer on a secondary thread.
@Suite(.timeLimit(.minutes(20))) struct WorkerThreadTests {
  /// Runs the thread's loop pass by pass until it is finished or `isStopped` says so.
  private func work(
    _ isStopped: Counter, setUp: @escaping @Sendable (TrackedRunLoop) -> Void
  ) -> (loop: TrackedRunLoop, ended: Completion) {
    let ended = Completion()
    let ready = Completion()
    let loop = Locked<TrackedRunLoop?>(nil)
    DispatchQueue.global().async {
      runThread {
        let own = TrackedRunLoop.current
        loop.withLock { $0 = own }
        setUp(own)
        ready.finish()
        while isStopped.count == 0, own.run(mode: .default, before: .distantFuture) != .finished {}
      }
      ended.finish()
    }
    _ = ready.wait()
    // Set before `ready` is finished.
    return (loop.withLock { $0.unsafelyUnwrapped }, ended)
  }

  @Test func theThreadEndsWhenItsOwnerIsGone() {
    let ticks = Counter()
    let deaths = Counter()
    let ended: Completion
    let loop: TrackedRunLoop
    do {
      let owner = Witness { deaths.up() }
      (loop, ended) = work(Counter()) { [weak owner] loop in
        guard let owner else { return }
        loop.owner = owner
        _ = try? loop.schedule(every: .seconds(0.001), weak: owner) { _, _ in ticks.up() }
      }
      #expect(eventually { ticks.count > 2 })
      withExtendedLifetime(owner) {}
    }
    #expect(ended.wait())
    #expect(deaths.count == 1)
    #expect(loop.isFinished)
  }

  @Test func theThreadEndsWhenItIsToldTo() {
    let stopped = Counter()
    let ticks = Counter()
    let (loop, ended) = work(stopped) { loop in _ = try? loop.schedule(every: .seconds(0.001)) { _ in ticks.up() } }
    #expect(eventually { ticks.count > 2 })
    loop.perform {
      stopped.up()
      TrackedRunLoop.current.stop()
    }
    #expect(ended.wait())
    #expect(loop.isFinished)
    let last = ticks.count
    #expect(loop.inspection().timers.isEmpty)
    #expect(ticks.count == last)
  }

  @Test func whatTheLoopHeldIsReleasedWithItsThread() throws {
    let deaths = Counter()
    let timer = Locked<TrackedTimer?>(nil)
    runThread {
      let loop = TrackedRunLoop.current
      _ = try? loop.schedule(every: .seconds(1000), weak: Witness()) { _, _ in }
      let captured = Witness { deaths.up() }
      let performed = Witness { deaths.up() }
      let sourced = Witness { deaths.up() }
      let made = try? loop.schedule(every: .seconds(1000)) { _ in captured.tick() }
      timer.withLock { $0 = made }
      loop.perform { performed.tick() }
      _ = try? loop.add(TrackedRunLoopSource { _ in sourced.tick() }, forMode: .default)
    }
    // The timer is kept by the test, and what it captured with it.
    #expect(deaths.count == 2)
    #expect(timer.withLock { $0 }?.isValid == true)
    timer.withLock { $0 = nil }
    #expect(deaths.count == 3)
  }
}
