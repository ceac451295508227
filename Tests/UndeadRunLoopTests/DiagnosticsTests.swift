import Testing

@testable import UndeadRunLoop

private protocol Ticking: AnyObject, Sendable {
  func tick()
}
private protocol Named: AnyObject, Sendable {}
extension Witness: Ticking, Named {}

/// Diagnostics are a switch of the whole process, so their tests run one after the other and look for their own loops.
@Suite(.serialized, .timeLimit(.minutes(20))) struct DiagnosticsTests {
  final class Sink: Sendable {
    private let received = Locked<[RunLoopDiagnostic]>([])

    func all(_ kind: RunLoopDiagnostic.Kind, _ name: String) -> [RunLoopDiagnostic] {
      received.withLock { $0.filter { $0.kind == kind && ($0.details["timer"] == name || $0.details["loop"] == name) } }
    }

    func take(_ diagnostic: RunLoopDiagnostic) { received.withLock { $0.append(diagnostic) } }
  }

  func diagnosed(
    _ thresholds: RunLoopDiagnostics.Thresholds = .init(), _ body: (Sink) throws -> Void
  ) rethrows {
    let sink = Sink()
    RunLoopDiagnostics.enable(thresholds) { sink.take($0) }
    defer { RunLoopDiagnostics.disable() }
    try body(sink)
  }

  func roles(_ diagnostic: RunLoopDiagnostic?) -> [String] { diagnostic?.backtraces.map(\.role) ?? [] }

  @Test func silentUnlessSwitchedOn() throws {
    let test = TestLoop()
    let timer = try TrackedTimer(timeInterval: 0.1, target: Witness(), holding: .weak, repeats: true) { _, _ in }
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 1)
    #expect(RunLoopDiagnostics.collected.isEmpty)
    #expect(!Diagnostics.isWanted)
  }

  @Test func aFireIsCountedOnce() throws {
    let test = TestLoop()
    let timer = try TrackedTimer(timeInterval: 0.1, repeats: false) { _ in }
    try test.loop.add(timer, forMode: .default)
    diagnosed { _ in test.run(seconds: 1) }
    #expect(timer.firings == 1)
  }

  @Test func firingForADeadTarget() throws {
    try diagnosed { sink in
      let test = TestLoop()
      for name in ["weak", "proxy"] {
        let target = Witness()
        let timer =
          name == "weak"
          ? try TrackedTimer(timeInterval: 0.1, target: target, holding: .weak, repeats: true) { _, _ in }
          : try TrackedTimer(timeInterval: 0.1, target: WeakProxy(target), repeats: true) { _, _ in }
        timer.name = name
        try test.loop.add(timer, forMode: .default)
      }
      test.run(seconds: 1)
      for name in ["weak", "proxy"] {
        let found = sink.all(.timerFiringForDeadTarget, name)
        #expect(found.count == 1)
        #expect(found.first?.details["target"]?.contains("Witness") == true)
        #expect(roles(found.first) == ["creation", "scheduling"])
      }
    }
  }

  private func fires(_ sink: Sink, _ name: String, _ make: (Witness, TrackedRunLoop) throws -> TrackedTimer) throws
    -> [String]
  {
    let test = TestLoop()
    var other: Witness?
    do {
      let owner = Witness()
      other = owner
      let timer = try make(owner, test.loop)
      timer.name = name
      test.run(seconds: 1)
      other = nil
    }
    #expect(sink.all(.timerFiringForDeadTarget, name).isEmpty)
    test.run(seconds: 1)
    withExtendedLifetime(other) {}
    return sink.all(.timerFiringForDeadTarget, name).compactMap { $0.details["target"] }
  }

  @Test func aBlockThatKnowsItsOwnerOnlyWeakly() throws {
    try diagnosed { sink in
      let witness = String(reflecting: Witness.self)
      let kept = Witness()
      let found = try [
        "plain": fires(sink, "plain") { owner, loop in
          try loop.schedule(every: .seconds(0.1)) { [weak owner] _ in owner?.tick() }
        },
        "variable": fires(sink, "variable") { owner, loop in
          weak let owner = owner
          return try loop.schedule(every: .seconds(0.1)) { _ in owner?.tick() }
        },
        "two": fires(sink, "two") { owner, loop in
          try loop.schedule(every: .seconds(0.1)) { [weak owner, weak second = owner] _ in
            owner?.tick()
            second?.tick()
          }
        },
        "wrapped": fires(sink, "wrapped") { owner, loop in
          let block = { @Sendable [weak owner] in owner?.tick() }
          return try loop.schedule(every: .seconds(0.1)) { _ in _ = block() }
        },
        "ends itself": fires(sink, "ends itself") { owner, loop in
          try loop.schedule(every: .seconds(0.1)) { [weak owner] timer in if owner == nil { timer.invalidate() } }
        },
        "protocols": fires(sink, "protocols") { owner, loop in
          weak let existential: (any Ticking & Named)? = owner
          return try loop.schedule(every: .seconds(0.1)) { [weak owner] _ in
            existential?.tick()
            owner?.tick()
          }
        },
        "has another": fires(sink, "has another") { owner, loop in
          try loop.schedule(every: .seconds(0.1)) { [weak owner, weak kept] _ in (owner ?? kept)?.tick() }
        },
        "does more": fires(sink, "does more") { owner, loop in
          try loop.schedule(every: .seconds(0.1)) { [weak owner] _ in (owner ?? kept).tick() }
        },
        "captures nothing": fires(sink, "captures nothing") { _, loop in
          try loop.schedule(every: .seconds(0.1)) { _ in }
        },
      ]
      // Not looked through: it is enough that nothing is reported that is not so.
      #expect(found["protocols"].map { $0.isEmpty || $0 == [witness] } == true)
      // Only the instrument can look into blocks.
      let expected = Instrument.functions == nil ? [] : [witness]
      for name in ["plain", "variable", "two", "wrapped"] { #expect(found[name] == expected, "\(name)") }
      for name in ["ends itself", "has another", "does more", "captures nothing"] {
        #expect(found[name] == [], "\(name)")
      }
    }
  }

  @Test(.enabled(if: Instrument.functions != nil))
  func aBlockOfTheMainLoopIsLookedInto() async throws {
    let (owner, timer) = try await MainActor.run {
      let owner = Witness()
      let timer = try MainRunLoop.shared.timer(timeInterval: 1, repeats: true) { [weak owner] _ in owner?.tick() }
      return (owner, timer)
    }
    guard let block = timer.action?.action else { throw RunLoopError.invalidDate }
    withExtendedLifetime(owner) { #expect(Instrument.ownerThatIsGone(of: block) == nil) }
    weak let watched = owner
    _ = consume owner
    #expect(watched == nil)
    #expect(Instrument.ownerThatIsGone(of: block) == String(reflecting: Witness.self))
    timer.invalidate()
  }

  @Test func neverScheduledAndDeallocatedUnfired() throws {
    try diagnosed { sink in
      let forgotten = try TrackedTimer(timeInterval: 0.1) { _ in }
      forgotten.name = "forgotten"
      RunLoopDiagnostics.check(atOnce: true)
      RunLoopDiagnostics.check(atOnce: true)
      #expect(sink.all(.timerNeverScheduled, "forgotten").count == 1)
      forgotten.invalidate()
      do {
        let lost = try TrackedTimer(timeInterval: 0.1) { _ in }
        lost.name = "lost"
      }
      #expect(sink.all(.timerDeallocatedUnfired, "lost").count == 1)
      #expect(roles(sink.all(.timerDeallocatedUnfired, "lost").first) == ["creation"])
      #expect(sink.all(.timerDeallocatedUnfired, "forgotten").isEmpty)
    }
  }

  @Test func timersThatAreScheduledOrInvalidatedAreNotForgotten() throws {
    try diagnosed { sink in
      let test = TestLoop()
      let (scheduled, invalidated) = (
        try TrackedTimer(timeInterval: 1) { _ in }, try TrackedTimer(timeInterval: 1) { _ in }
      )
      scheduled.name = "scheduled"
      invalidated.name = "invalidated"
      try test.loop.add(scheduled, forMode: .default)
      invalidated.invalidate()
      RunLoopDiagnostics.check(atOnce: true)
      for name in ["scheduled", "invalidated"] { #expect(sink.all(.timerNeverScheduled, name).isEmpty) }
    }
  }

  /// What a check holds must not be the last reference to a loop: it would end on the thread of the check.
  @Test func checksDoNotHoldLoops() throws {
    weak var clock: VirtualClock?
    var known: [KnownLoop] = []
    let deaths = Counter()
    do {
      let test = TestLoop()
      clock = test.clock
      test.loop.name = "short-lived"
      test.loop.owner = Witness { deaths.up() }
      known = LoopRegistry.shared.known.filter { $0.core == test.loop.core }
      #expect(known.map { $0.withLock { true } } == [true])
      #expect(deaths.count == 1)
    }
    #expect(known.map(\.identity.name) == ["short-lived"])
    #expect(known.map { $0.withLock { true } } == [nil])
    known = []
    #expect(clock == nil)
  }

  @Test func invalidatedOffThread() throws {
    try diagnosed { sink in
      let thread = RunLoopThread(name: "off")
      defer { thread.stop() }
      let timer = try TrackedTimer(timeInterval: 100) { _ in }
      timer.name = "off thread"
      try thread.loop.add(timer, forMode: .default)
      try thread.loop.perform(waitUntilDone: true) {}
      timer.invalidate()
      let found = sink.all(.invalidatedOffThread, "off thread")
      #expect(roles(found.first) == ["creation", "scheduling", "invalidation"])
      #expect(thread.loop.inspection().timers.isEmpty)
    }
  }

  @Test func starvedMode() throws {
    try diagnosed { sink in
      let test = TestLoop()
      let timer = try test.every(.seconds(0.1), "starved")
      timer.name = "starved"
      try test.every(.seconds(0.5), "tracking", mode: .tracking)
      test.run(.tracking, seconds: 3)
      let found = sink.all(.modeStarved, "starved")
      #expect(found.count == 1)
      #expect(found.first?.details["mode"] == "default")
      #expect(found.first?.details["runningMode"] == "tracking")
      #expect(Int(found.first?.details["missed"] ?? "").map { $0 >= 9 } == true)
    }
  }

  @Test func lateFireNamesTheCulprit() throws {
    try diagnosed { sink in
      let test = TestLoop()
      let culprit = try test.loop.schedule(after: .seconds(0.1)) { _ in test.clock.advance(by: .seconds(1)) }
      culprit.name = "culprit"
      let victim = try test.after(.seconds(0.2), "victim")
      victim.name = "victim"
      test.run(seconds: 5)
      let found = sink.all(.lateFire, "victim")
      #expect(found.first?.details["culprit"] == "timer \"culprit\"")
      #expect(found.first?.details["seconds"] == "0.9")
      #expect(sink.all(.lateFire, "culprit").isEmpty)
    }
  }

  @Test func blockedLoopWithTheCulpritsBacktrace() throws {
    var thresholds = RunLoopDiagnostics.Thresholds()
    thresholds.loopBlocked = .milliseconds(20)
    try diagnosed(thresholds) { sink in
      let thread = RunLoopThread(name: "blocked")
      defer { thread.stop() }
      try thread.loop.perform(waitUntilDone: true) {
        #expect(eventually { !sink.all(.loopBlocked, "blocked").isEmpty })
      }
      let found = sink.all(.loopBlocked, "blocked")
      #expect(found.count == 1)
      #expect(roles(found.first) == ["culprit"])
      #expect((found.first?.backtraces.first?.addresses.count ?? 0) > 2)
    }
  }

  @Test func aLoopThatOutlivesItsOwner() throws {
    try diagnosed { sink in
      let thread = RunLoopThread(name: "orphan")
      defer { thread.stop() }
      thread.loop.owner = Witness()
      try thread.loop.perform(waitUntilDone: true) {}
      RunLoopDiagnostics.check()
      RunLoopDiagnostics.check()
      #expect(sink.all(.loopOutlivesOwner, "orphan").count == 1)
      #expect(thread.loop.inspection().ownerAlive == false)
    }
  }

  @Test func aFreedTargetIsAZombieWithItsBacktraces() throws {
    try diagnosed { sink in
      let test = TestLoop()
      let timer = try TrackedTimer(
        timeInterval: 0.1, target: Witness(), holding: .unretained, selector: "tick", repeats: true
      ) { _, _ in }
      timer.name = "zombie"
      try test.loop.add(timer, forMode: .default)
      test.run(seconds: 1)
      let found = sink.all(.timerTarget, "zombie")
      #expect(found.count == 1)
      #expect(found.first?.details["selector"] == "tick")
      #expect(found.first?.details["target"]?.hasSuffix("Witness") == true)
      // Where the target was allocated is known too if the instrument records.
      #expect(roles(found.first).filter { $0 != "allocation" } == ["creation", "scheduling", "access"])
    }
  }

  @Test func refusedAndDetachedTimers() throws {
    try diagnosed { sink in
      let other = TestLoop()
      let timer = try TrackedTimer(timeInterval: 1) { _ in }
      timer.name = "refused"
      var test: TestLoop? = TestLoop()
      test?.loop.name = "gone"
      try test?.loop.add(timer, forMode: .default)
      #expect(throws: RunLoopError.self) { try other.loop.add(timer, forMode: .default) }
      #expect(sink.all(.timerRefused, "refused").count == 1)
      test = nil
      #expect(sink.all(.timersDetached, "gone").count == 1)
    }
  }

  @Test func stackedProxies() {
    diagnosed { _ in
      _ = WeakProxy(WeakProxy(Witness()))
      #expect(RunLoopDiagnostics.collected.contains { $0.kind == .stackedWeakProxies })
    }
  }

  @Test func inspection() throws {
    let test = TestLoop()
    test.loop.name = "inspected"
    let target = Witness()
    let timer = try TrackedTimer(
      timeInterval: 0.1, target: target, holding: .weak, selector: "tick", userInfo: 42, repeats: true
    ) { target, _ in target.tick() }
    timer.name = "poll"
    try test.loop.add(timer, forMode: .default)
    test.run(seconds: 0.35)
    let all = TrackedRunLoop.inspect()
    let loop = try #require(all.loops.first { $0.name == "inspected" })
    let seen = try #require(loop.timers.first)
    #expect(seen.name == "poll")
    #expect(seen.modes == ["default"])
    #expect(seen.fires == 3)
    #expect(seen.target?.isAlive == true)
    #expect(seen.target?.type.hasSuffix("Witness") == true)
    #expect(seen.userInfoType == "Swift.Int")
    #expect(loop.modes.map(\.name) == ["default"])
    #expect(try all.json().contains("\"poll\""))
    #expect(all.description.contains("timer \"poll\""))
  }
}
