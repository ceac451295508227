import Dispatch
import Foundation
import Undead
import UndeadRunLoop

// The ways around the timer leak that people use on Apple platforms: what each leaks all the same, and its cure.
extension RunLoopScenario {
  static let timersOfOthers = [
    RunLoopScenario(
      32, "a type is the target and a block the userInfo, as in EOCBlocksSupport: the block captures the owner",
      .abandoned("run loop", "mode default", "timer \"poll\"", "userInfo", "Owner.pollThroughAType", "captures self")
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        try owner.pollThroughAType(on: loop)
        return owner
      }
    },
    RunLoopScenario(33, "the same with a weak capture, deinit invalidates", .clean) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        owner.timer = try BlockCaller.schedule(on: loop) { [weak owner] in owner?.ticks += 1 }
        owner.onEnd = { [weak timer = owner.timer] in timer?.invalidate() }
        return owner
      }
    },
    RunLoopScenario(
      34, "the same, and nobody invalidates, since types need no releasing: no cycle, but it ticks for ever",
      .told(.timerFiringForDeadTarget)
    ) { loop in
      let ownerLives = try afterClosing(loop) {
        let owner = Owner()
        owner.timer = try BlockCaller.schedule(on: loop) { [weak owner] in owner?.ticks += 1 }
        return owner
      }
      runShortly(loop)
      return ownerLives
    },
    RunLoopScenario(
      35, "a block with userInfo, as in HWWeakTimer, that captures its owner: only targets are held weakly there",
      .abandoned("run loop", "mode default", "timer", "Owner.pollWithUserInfo", "captures self", holdsBack: false)
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        try owner.pollWithUserInfo(on: loop)
        return owner
      }
    },
    RunLoopScenario(36, "the same with its owner as the target; no userInfo is no trouble", .clean) { loop in
      try WeakTimer.scheduledTimer(timeInterval: interval, repeats: false, loop: loop) { timer in
        precondition(timer.userInfo == nil)
      }
      return try afterClosing(loop) {
        let owner = Owner()
        try WeakTimer.scheduledTimer(timeInterval: interval, target: owner, userInfo: 2, repeats: true, loop: loop) {
          owner, timer in owner.ticks += timer.userInfo as? Int ?? 0
        }
        return owner
      }
    },
    RunLoopScenario(
      37, "a timer of a loop that runs in another mode, with a callback that takes long", .told(.modeStarved)
    ) { loop in
      let owner = Owner()
      let timer = try schedule(owner, on: loop)
      keepBusy(loop, for: 1.2)
      precondition(owner.ticks == 0)
      timer.invalidate()
      return false
    },
    RunLoopScenario(38, "a GCD timer in its place ticks on: modes and busy loops are nothing to it", .clean) { loop in
      weak var owner: Owner?
      try withOwnerScope("screen", grace: grace) { scope in
        let made = scope.adopt(Owner())
        owner = made
        let timer = try DispatchTimer(timeInterval: interval, weak: made, repeats: true, queue: .global()) { owner, _ in
          owner.ticks += 1
        }
        timer.resume()
        keepBusy(loop, for: 0.2)
        timer.invalidate()
        precondition(made.ticks > 0)
      }
      return owner != nil
    },
    RunLoopScenario(
      39, "a task whose block keeps its target, as in PreciousTimer's form with a target",
      .abandoned("precise timer", "Owner.execTask", "captures self", holdsBack: false)
    ) { loop in
      try afterClosing(loop) {
        let owner = Owner()
        try owner.execTask()
        return owner
      }
    },
    RunLoopScenario(40, "the same with a target that it does not keep: the task ends with it", .clean) { loop in
      var id: PreciseTimer.ID?
      let ownerLives = try afterClosing(loop) {
        let owner = Owner()
        id = try PreciseTimer.execTask(target: owner, interval: interval, repeats: true, async: true) { $0.ticks += 1 }
        return owner
      }
      precondition(waitUntil { id.map { !PreciseTimer.activeTasks.contains($0) } ?? false })
      return ownerLives
    },
    RunLoopScenario(
      41, "a Timer of Foundation whose block captures its owner",
      .abandoned("Owner.pollWithFoundation", "captures self")
    ) { _ in
      afterClosing(nil) {
        let owner = Owner()
        owner.pollWithFoundation()
        return owner
      }
    },
    RunLoopScenario(42, "the same with a weak capture, deinit invalidates", .clean) { _ in
      afterClosing(nil) {
        let owner = Owner()
        let timer = Timer(timeInterval: intervalInSeconds, repeats: true) { [weak owner] _ in owner?.ticks += 1 }
        RunLoop.current.add(timer, forMode: .default)
        nonisolated(unsafe) weak let weakTimer = timer
        owner.onEnd = { weakTimer?.invalidate() }
        return owner
      }
    },
  ]
}

/// What the categories of `NSTimer` are: a type that calls the block in a timer's `userInfo`.
private enum BlockCaller {
  static func schedule(on loop: TrackedRunLoop, _ block: @escaping @Sendable () -> Void) throws -> TrackedTimer {
    let timer = try TrackedTimer(
      after: interval, target: BlockCaller.self, selector: "call", userInfo: block, repeats: true
    ) { type, timer in type.call(timer) }
    timer.name = "poll"
    try loop.add(timer, forMode: .default)
    return timer
  }

  private static func call(_ timer: TrackedTimer) {
    if let block = timer.userInfo as? @Sendable () -> Void { block() }
  }
}

extension Owner {
  fileprivate func pollThroughAType(on loop: TrackedRunLoop) throws {
    timer = try BlockCaller.schedule(on: loop) { self.ticks += 1 }
  }

  fileprivate func pollWithUserInfo(on loop: TrackedRunLoop) throws {
    try WeakTimer.scheduledTimer(timeInterval: interval, userInfo: 2, repeats: true, loop: loop) { timer in
      self.ticks += timer.userInfo as? Int ?? 0
    }
  }

  fileprivate func execTask() throws {
    try PreciseTimer.execTask(interval: .seconds(600), repeats: true, async: true) { self.ticks += 1 }
  }

  fileprivate func pollWithFoundation() {
    foundationTimer = Timer.scheduledTimer(withTimeInterval: intervalInSeconds, repeats: true) { _ in self.ticks += 1 }
  }
}

/// Runs a loop in tracking mode, in which something else takes all the time.
private func keepBusy(_ loop: TrackedRunLoop, for seconds: Double) {
  loop.perform(inModes: [.tracking]) { Thread.sleep(until: Date(timeIntervalSinceNow: seconds)) }
  loop.run(mode: .tracking, for: .nanoseconds(Int(seconds * 1e9)))
}
