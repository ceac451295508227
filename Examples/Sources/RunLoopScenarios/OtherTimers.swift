import Dispatch
import Foundation
import UndeadRunLoop

extension RunLoopScenario {
  static let otherTimers = [
    RunLoopScenario(13, "a weak timer on a queue, its target dies, invalidated from another thread", .init()) { _ in
      weak var owner: Owner?
      let timer: WeakTimer
      do {
        let made = Owner()
        owner = made
        timer = try WeakTimer.scheduledTimer(
          timeInterval: interval, target: made, repeats: true, dispatchQueue: .global()
        ) { owner, _ in owner.ticks += 1 }
        Thread.sleep(forTimeInterval: 5 * interval)
      }
      DispatchQueue.global().sync { timer.invalidate() }
      return waitUntil { owner == nil } == false
    },
    RunLoopScenario(15, "a thread that runs its loop as long as its owner lives, stopped from deinit", .init()) { _ in
      weak var owner: Owner?
      let loop: TrackedRunLoop
      do {
        let made = Owner()
        owner = made
        let thread = RunLoopThread(name: "worker")
        loop = thread.loop
        loop.owner = made
        made.onEnd = { thread.stop() }
        try loop.schedule(every: interval, weak: made) { owner, timer in owner.tick(timer) }
      }
      return waitUntil { owner == nil && loop.isFinished } == false
    },
    RunLoopScenario(
      16, "a thread that calls run(): it never ends, nor does the owner of its timer", .init(ownerLives: true)
    ) { _ in
      weak var owner: Owner?
      do {
        let made = Owner()
        owner = made
        Thread.detachNewThread {
          TrackedRunLoop.current.name = "abandoned"
          TrackedRunLoop.current.owner = made
          made.timer = try? schedule(made, on: .current)
          TrackedRunLoop.current.run()
        }
      }
      Thread.sleep(forTimeInterval: 5 * interval)
      return owner != nil
    },
    RunLoopScenario(17, "a display link with a strong target", .init(ownerLives: true)) { loop in
      afterLettingGo(
        of: {
          let owner = Owner()
          owner.link = TrackedDisplayLink(target: owner) { owner, _ in owner.ticks += 1 }
          owner.link?.add(to: loop, forMode: .common)
          return owner
        }, on: loop)
    },
    RunLoopScenario(18, "a display link through a weak proxy", .init()) { loop in
      afterLettingGo(
        of: {
          let owner = Owner()
          let link = TrackedDisplayLink(target: WeakProxy(owner)) { proxy, _ in proxy.forward { $0.ticks += 1 } }
          link.add(to: loop, forMode: .common)
          owner.onEnd = { link.invalidate() }
          return owner
        }, on: loop)
    },
    RunLoopScenario(19, "a GCD timer whose handler captures its owner", .init(ownerLives: true)) { loop in
      afterLettingGo(
        of: {
          let owner = Owner()
          let source = DispatchSource.makeTimerSource()
          source.schedule(deadline: .now() + 600, repeating: 600)
          source.setEventHandler {
            owner.ticks += 1
            _ = source
          }
          source.activate()
          return owner
        }, on: loop)
    },
    RunLoopScenario(20, "a precise task with a weak capture, cancelled by its id", .init()) { _ in
      weak var owner: Owner?
      let id: PreciseTimer.ID
      do {
        let made = Owner()
        owner = made
        id = try PreciseTimer.execTask(interval: 600, repeats: true, async: true) { [weak made] in made?.ticks += 1 }
      }
      let next = try PreciseTimer.execTask(interval: 600, repeats: true, async: true) {}
      precondition(id < next && PreciseTimer.cancelTask(id) && !PreciseTimer.cancelTask(id))
      PreciseTimer.cancelTask(next)
      return owner != nil
    },
  ]

  static let misuse = [
    RunLoopScenario(21, "a timer in the default mode while the loop runs in tracking mode", .init(.modeStarved)) {
      loop in
      let owner = Owner()
      let timer = try schedule(owner, on: loop)
      let common = try loop.schedule(every: interval, mode: .common) { _ in }
      loop.run(mode: .tracking, for: .milliseconds(40))
      precondition(owner.ticks == 0 && common.firings > 0)
      timer.invalidate()
      common.invalidate()
      return false
    },
    RunLoopScenario(
      22, "a timer assigned to a weak variable before it is added to a loop", .init(.timerDeallocatedUnfired)
    ) { _ in
      weak var timer: TrackedTimer?
      timer = try makeTimer()
      return timer != nil
    },
    RunLoopScenario(23, "a timer that is never added to a loop", .init(.timerNeverScheduled)) { _ in
      let timer = try TrackedTimer(timeInterval: interval, repeats: true) { _ in }
      RunLoopDiagnostics.check(atOnce: true)
      timer.invalidate()
      return false
    },
    RunLoopScenario(24, "invalidate from another thread", .init(.invalidatedOffThread)) { _ in
      let thread = RunLoopThread(name: "theirs")
      let timer = try thread.loop.schedule(every: 600) { _ in }
      try thread.loop.perform(waitUntilDone: true) {}
      timer.invalidate()
      precondition(!thread.loop.contains(timer, forMode: .default))
      thread.stop()
      return false
    },
    RunLoopScenario(25, "a loop that a slow callback blocks", .init(.lateFire, .loopBlocked)) { loop in
      let slow = try loop.schedule(after: interval) { _ in
        let end = Date(timeIntervalSinceNow: 0.3)
        // The signal that takes the culprit's backtrace may end a sleep early.
        while Date() < end { Thread.sleep(until: end) }
      }
      slow.name = "slow"
      let victim = try loop.schedule(after: 2 * interval) { _ in }
      victim.name = "victim"
      loop.run(for: .seconds(2))
      return false
    },
  ]
}

private func makeTimer() throws -> TrackedTimer {
  try TrackedTimer(timeInterval: interval, repeats: true) { _ in }
}

/// Polls for a condition for some seconds.
private func waitUntil(_ condition: () -> Bool) -> Bool {
  let end = Date(timeIntervalSinceNow: 20)
  while !condition() {
    if Date() > end { return false }
    Thread.sleep(forTimeInterval: 0.001)
  }
  return true
}
