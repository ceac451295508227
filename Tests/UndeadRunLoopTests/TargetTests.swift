import Testing

@testable import UndeadRunLoop

@Suite(.timeLimit(.minutes(20))) struct TargetTests {
  @Test func aWeakTargetMayDie() throws {
    let test = TestLoop()
    let deaths = Counter()
    var target: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(timeInterval: 0.1, target: target!, holding: .weak, repeats: true) { target, _ in
      target.tick()
    }
    try test.loop.add(timer, forMode: .default)
    #expect(timer.describedTarget?.holding == .weak)
    test.run(seconds: 0.1)
    target = nil
    #expect(deaths.count == 1)
    test.run(seconds: 0.1)
    #expect(timer.isValid)
    timer.endsWithTarget = true
    test.run(seconds: 0.1)
    #expect(!timer.isValid)
  }

  @Test func schedulingWithAWeakOwnerEndsByItself() throws {
    let test = TestLoop()
    var owner: Witness? = Witness()
    let timer = try test.loop.schedule(every: .seconds(0.1), weak: owner!) { owner, _ in owner.tick() }
    test.run(seconds: 0.25)
    #expect(owner?.ticks.load(ordering: .relaxed) == 2)
    owner = nil
    #expect(test.run(seconds: 5) == .finished)
    #expect(!timer.isValid)
    #expect(test.time == 0.3)
  }

  @Test func anUnretainedTargetThatLivesIsCalled() throws {
    let test = TestLoop()
    let target = Witness()
    let timer = try TrackedTimer(timeInterval: 0.1, target: target, holding: .unretained, repeats: true) { target, _ in
      target.tick()
    }
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 0.3)
    #expect(target.ticks.load(ordering: .relaxed) == 3)
  }

  @Test func aFreedUnretainedTargetIsNeverCalled() throws {
    let test = TestLoop()
    let deaths = Counter()
    let calls = Counter()
    var target: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(timeInterval: 0.1, target: target!, holding: .unretained, repeats: true) { _, _ in
      calls.up()
    }
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 0.1)
    #expect(calls.count == 1)
    target = nil
    #expect(deaths.count == 1)
    // The memory must not become another object of the same class.
    let others = (0..<1000).map { _ in Witness() }
    test.run(seconds: 1)
    #expect(calls.count == 1)
    #expect(!timer.isValid)
    #expect(others.allSatisfy { $0.ticks.load(ordering: .relaxed) == 0 })
  }

  @Test func mainLoopTimersTakeMethodsOfWhatIsNotSendable() async throws {
    try await MainActor.run {
      final class Local {
        var count = 0
        func tick(_ timer: TrackedTimer) {
          count += 1
          if count == 2 { timer.invalidate() }
        }
      }
      let local = Local()
      let timer = try MainRunLoop.shared.timer(timeInterval: 0.001, target: local, selector: Local.tick, repeats: true)
      timer.name = "main"
      try MainRunLoop.shared.loop.add(timer, forMode: .default)
      var blocks = 0
      let block = try MainRunLoop.shared.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in blocks += 1 }
      while timer.isValid || blocks == 0 { TrackedRunLoop.main.run(for: .milliseconds(10)) }
      block.invalidate()
      #expect(local.count == 2)
    }
  }

  @Test func aTypeAsTheTarget() throws {
    let test = TestLoop()
    let deaths = Counter()
    let block: @Sendable () -> Void = { [witness = Witness { deaths.up() }] in witness.tick() }
    let timer = try TrackedTimer(
      after: .seconds(1), target: BlockCaller.self, selector: "call", userInfo: block, repeats: true
    ) { type, timer in type.call(timer) }
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 2.5)
    #expect(timer.firings == 2)
    #expect(timer.describedTarget?.holding == .strong)
    #expect(test.loop.inspection().timers.first?.target?.type.hasSuffix("BlockCaller.Type") == true)
    #expect(test.loop.inspection().timers.first?.target?.type.contains("unknown") == false)
    timer.invalidate()
    #expect(timer.userInfo == nil)
  }
}

private enum BlockCaller {
  static func call(_ timer: TrackedTimer) { (timer.userInfo as? @Sendable () -> Void)?() }
}
