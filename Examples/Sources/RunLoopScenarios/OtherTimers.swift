import Dispatch
import Foundation
import Undead
import UndeadRunLoop

extension RunLoopScenario {
  static let otherTimers = [
    RunLoopScenario(13, "a weak timer on a queue, its target dies, invalidated from another thread", .clean) { loop in
      let timer = Box<WeakTimer>()
      let ownerLives = try afterClosing(loop) {
        let owner = Owner()
        timer.value = try WeakTimer.scheduledTimer(
          timeInterval: interval, target: owner, repeats: true, dispatchQueue: .global()
        ) { owner, _ in owner.ticks += 1 }
        Thread.sleep(forTimeInterval: 5 * intervalInSeconds)
        return owner
      }
      DispatchQueue.global().sync { timer.value?.invalidate() }
      return ownerLives
    },
    RunLoopScenario(15, "a thread that runs its loop as long as its owner lives, stopped from deinit", .clean) { _ in
      let loop: TrackedRunLoop
      weak var owner: Owner?
      let scope = OwnerScope("screen")
      do {
        let made = scope.adopt(Owner())
        owner = made
        let thread = scope.adopt(RunLoopThread(name: "worker"))
        loop = thread.loop
        loop.owner = made
        made.onEnd = { thread.stop() }
        try loop.schedule(every: interval, weak: made) { owner, timer in owner.tick(timer) }
      }
      scope.close(grace: .seconds(10))
      return waitUntil { owner == nil && loop.isFinished } == false
    },
    RunLoopScenario(
      16, "a thread that calls run(): it never ends, nor does the owner of its timer",
      .abandoned("run loop \"abandoned\"", "mode default", "timer \"poll\"", "target: Owner")
    ) { _ in
      let scope = OwnerScope("screen")
      weak let owner = makeAbandonedThread(scope)
      Thread.sleep(forTimeInterval: 20 * intervalInSeconds)
      scope.close(grace: grace)
      return owner != nil
    },
    RunLoopScenario(
      17, "a display link with a strong target",
      .abandoned("run loop", "mode common", "display link", "target: Owner")
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        owner.link = TrackedDisplayLink(target: owner) { owner, _ in owner.ticks += 1 }
        try owner.link?.add(to: loop, forMode: .common)
        return owner
      }
    },
    RunLoopScenario(18, "a display link through a weak proxy", .clean) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        let link = TrackedDisplayLink(target: WeakProxy(owner)) { proxy, _ in proxy.forward { $0.ticks += 1 } }
        try link.add(to: loop, forMode: .common)
        owner.onEnd = { link.invalidate() }
        return owner
      }
    },
    RunLoopScenario(
      19, "a GCD timer whose handler captures its owner",
      .abandoned("dispatch", "event handler", "closure #1", "Owner.poll", "captures self")
    ) { loop in
      afterClosing(loop) {
        let owner = Owner()
        owner.pollOnAQueue()
        return owner
      }
    },
    RunLoopScenario(20, "a precise task with a weak capture, cancelled by its id", .clean) { loop in
      var ids: [PreciseTimer.ID] = []
      let ownerLives = try afterClosing(loop) {
        let owner = Owner()
        ids.append(
          try PreciseTimer.execTask(interval: .seconds(600), repeats: true, async: true) { [weak owner] in
            owner?.ticks += 1
          })
        return owner
      }
      precondition(PreciseTimer.cancelTask(ids[0]) && !PreciseTimer.cancelTask(ids[0]))
      let next = try PreciseTimer.execTask(interval: .seconds(600), repeats: true, async: true) {}
      precondition(ids[0] != next && PreciseTimer.cancelTask(next))
      return ownerLives
    },
  ]

  static let misuse = [
    RunLoopScenario(21, "a timer in the default mode while the loop runs in tracking mode", .told(.modeStarved)) {
      loop in
      let owner = Owner()
      let timer = try schedule(owner, on: loop)
      let common = try loop.schedule(every: interval * 50, mode: .common) { _ in }
      loop.run(mode: .tracking, for: .milliseconds(1200))
      precondition(owner.ticks == 0 && common.firings > 0)
      timer.invalidate()
      common.invalidate()
      return false
    },
    RunLoopScenario(
      22, "a timer assigned to a weak variable before it is added to a loop", .told(.timerDeallocatedUnfired)
    ) { _ in
      weak var timer: TrackedTimer?
      timer = try makeTimer()
      return timer != nil
    },
    RunLoopScenario(23, "a timer that is never added to a loop", .told(.timerNeverScheduled)) { _ in
      let timer = try makeTimer()
      RunLoopDiagnostics.check(atOnce: true)
      timer.invalidate()
      return false
    },
    RunLoopScenario(24, "invalidate from another thread", .told(.invalidatedOffThread)) { _ in
      let thread = RunLoopThread(name: "theirs")
      let timer = try thread.loop.schedule(every: .seconds(600)) { _ in }
      try thread.loop.perform(waitUntilDone: true) {}
      timer.invalidate()
      precondition(!timer.isValid)
      thread.stop()
      return false
    },
    RunLoopScenario(25, "a loop that a slow callback blocks", .told(.lateFire, .loopBlocked)) { loop in
      let slow = try loop.schedule(after: interval) { _ in takeLong() }
      slow.name = "slow"
      let victim = try loop.schedule(after: interval * 2) { _ in }
      victim.name = "victim"
      loop.run(for: .seconds(2))
      return false
    },
  ]
}

extension Owner {
  fileprivate func pollOnAQueue() {
    let source = DispatchSource.makeTimerSource()
    source.schedule(deadline: .now() + 600, repeating: 600)
    source.setEventHandler { self.ticks += 1 }
    source.activate()
    self.source = source
  }
}

/// What a closure fills in.
private final class Box<Value> {
  var value: Value?
}

@inline(never) private func makeAbandonedThread(_ scope: OwnerScope) -> Owner {
  let made = scope.adopt(Owner())
  Thread.detachNewThread {
    TrackedRunLoop.current.name = "abandoned"
    TrackedRunLoop.current.owner = made
    made.timer = try? schedule(made, on: .current)
    TrackedRunLoop.current.run()
  }
  return made
}

/// Keeps its thread busy for longer than a callback may take.
@inline(never) private func takeLong() {
  let end = Date(timeIntervalSinceNow: 0.6)
  while Date() < end { Thread.sleep(until: end) }
}

private func makeTimer() throws -> TrackedTimer {
  try TrackedTimer(after: interval, repeats: true) { _ in }
}

/// Polls for a condition for some seconds.
func waitUntil(_ condition: () -> Bool) -> Bool {
  let end = Date(timeIntervalSinceNow: 20)
  while !condition() {
    if Date() > end { return false }
    Thread.sleep(forTimeInterval: 0.001)
  }
  return true
}
