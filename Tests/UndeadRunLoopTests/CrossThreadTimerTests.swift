import Synchronization
import Testing

@testable import UndeadRunLoop

/// Timers in the hands of a thread that is not their loop's. Time stands still unless a test moves it.
@Suite(.timeLimit(.minutes(20))) struct CrossThreadTimerTests {
  private let clock = VirtualClock(advancesWhenIdle: false)

  private func sleepingThread() throws -> RunLoopThread {
    let thread = RunLoopThread(name: "sleeping", clock: clock)
    let asleep = Completion()
    let observer = TrackedRunLoopObserver(activities: .beforeWaiting, repeats: false) { _, _ in asleep.finish() }
    try thread.loop.add(observer, forMode: .default)
    thread.loop.wakeUp()
    #expect(asleep.wait())
    return thread
  }

  @Test func aFireDateSetElsewhereWakesTheLoop() throws {
    let thread = try sleepingThread()
    defer { thread.stop() }
    let fired = Counter()
    let timer = try thread.loop.schedule(every: .seconds(1000)) { _ in
      #expect(thread.loop.isCurrentThread)
      fired.up()
    }
    timer.fireDate = .distantPast
    #expect(eventually { fired.count == 1 })
    timer.fireDate = clock.date(at: 0)
    #expect(eventually { fired.count == 2 })
    timer.invalidate()
  }

  @Test func firingElsewhereCallsOnTheLoopsThread() throws {
    let thread = try sleepingThread()
    defer { thread.stop() }
    let fired = Counter()
    let timer = try thread.loop.schedule(every: .seconds(1000)) { _ in
      #expect(thread.loop.isCurrentThread)
      fired.up()
    }
    let due = timer.fireDate
    timer.fire()
    #expect(eventually { fired.count == 1 })
    #expect(timer.fireDate == due)
    timer.invalidate()
    timer.fire()
    try thread.loop.perform(waitUntilDone: true) {}
    #expect(fired.count == 1)
  }

  @Test func invalidatingElsewhereTakesEffectAtOnce() throws {
    let thread = try sleepingThread()
    defer { thread.stop() }
    let deaths = Counter()
    let modes = [TrackedRunLoop.Mode.default, .tracking, .init("elsewhere")]
    let timer = try TrackedTimer(
      timeInterval: 1, target: Witness { deaths.up() }, userInfo: Witness { deaths.up() }, repeats: true
    ) { target, _ in target.tick() }
    for mode in modes { try thread.loop.add(timer, forMode: mode) }
    timer.invalidate()
    for mode in modes { #expect(!thread.loop.contains(timer, forMode: mode)) }
    #expect(timer.userInfo == nil)
    #expect(eventually { deaths.count == 2 })
    clock.advance(by: .seconds(10))
    try thread.loop.perform(waitUntilDone: true) {}
    #expect(timer.firings == 0)
  }

  @Test func aTimerMovesToTheLoopOfAnotherThread() throws {
    let first = try sleepingThread()
    let second = try sleepingThread()
    defer {
      first.stop()
      second.stop()
    }
    let fired = Counter()
    let timer = try TrackedTimer(timeInterval: 1, repeats: true) { _ in
      #expect(second.loop.isCurrentThread)
      fired.up()
    }
    try first.loop.add(timer, forMode: .default)
    #expect(throws: RunLoopError.belongsToAnotherLoop(item: "timer", loop: "sleeping")) {
      try second.loop.add(timer, forMode: .default)
    }
    first.loop.remove(timer, forMode: .default)
    #expect(try second.loop.add(timer, forMode: .default))
    clock.advance(by: .seconds(1))
    #expect(eventually { fired.count == 1 })
    timer.invalidate()
  }
}
