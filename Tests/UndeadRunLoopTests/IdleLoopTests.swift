import Testing

@testable import UndeadRunLoop

// What is reported of timers that are never called, and of frames that came too late.
extension DiagnosticsTests {
  @Test func aLoopThatNobodyRuns() throws {
    try diagnosed { sink in
      let test = TestLoop()
      test.loop.name = "idle"
      let timer = try test.every(.seconds(0.1), "tick")
      timer.name = "poll"
      test.clock.advance(by: .milliseconds(900))
      RunLoopDiagnostics.check()
      #expect(sink.all(.loopNeverRun, "idle").isEmpty)
      test.clock.advance(by: .seconds(1))
      RunLoopDiagnostics.check()
      RunLoopDiagnostics.check()
      let found = sink.all(.loopNeverRun, "idle")
      #expect(found.count == 1)
      #expect(found.first?.message.contains("timer \"poll\" has been due for 1800.0 ms") == true)
      #expect(found.first?.details["missed"] == "18")
      #expect(roles(found.first) == ["creation"])
    }
  }

  @Test func aLoopThatHasRunIsNotCalledIdle() throws {
    try diagnosed { sink in
      let test = TestLoop()
      test.loop.name = "was run"
      try test.every(.seconds(0.1), "tick")
      test.run(seconds: 0.1)
      test.clock.advance(by: .seconds(10))
      let polled = TrackedRunLoop(name: "polled")
      _ = polled.pollDescriptor
      try polled.schedule(after: .seconds(0)) { _ in }
      RunLoopDiagnostics.check()
      #expect(sink.all(.loopNeverRun, "was run").isEmpty)
      #expect(sink.all(.loopNeverRun, "polled").isEmpty)
    }
  }

  @Test func aThreadThatEndsWithoutRunningItsLoop() throws {
    try diagnosed { sink in
      try onThread {
        TrackedRunLoop.current.name = "forgotten"
        try TrackedRunLoop.current.schedule(every: .seconds(100)) { _ in }.name = "poll"
      }
      let found = sink.all(.loopNeverRun, "forgotten")
      #expect(found.count == 1)
      #expect(found.first?.message.contains("timer \"poll\" never fired") == true)
      #expect(sink.all(.timersDetached, "forgotten").isEmpty)
      try onThread {
        TrackedRunLoop.current.name = "ran"
        try TrackedRunLoop.current.schedule(every: .seconds(100)) { _ in }
        TrackedRunLoop.current.run(for: .zero)
      }
      #expect(sink.all(.loopNeverRun, "ran").isEmpty)
      #expect(sink.all(.timersDetached, "ran").count == 1)
      let thread = RunLoopThread(name: "stopped")
      thread.stop()
      _ = try? thread.loop.schedule(every: .seconds(100)) { _ in }
      #expect(comesTrue { thread.loop.isFinished })
      #expect(sink.all(.loopNeverRun, "stopped").isEmpty)
    }
  }

  @Test func droppedFramesAreToldWithTheCulprit() throws {
    try diagnosed { sink in
      let test = TestLoop()
      test.loop.name = "frames"
      let link = TrackedDisplayLink(target: Witness(), source: TimedFrameSource(framesPerSecond: 50)) { _, _ in }
      link.name = "spinner"
      try link.add(to: test.loop, forMode: .default)
      try test.loop.schedule(after: .seconds(0.1)) { _ in test.clock.advance(by: .milliseconds(500)) }.name = "slow"
      test.run(seconds: 1)
      let found = sink.all(.framesDropped, "frames")
      #expect(found.count == 1)
      #expect(found.first?.message == "display link \"spinner\" dropped 25 frames: timer \"slow\" ran for 500.0 ms")
      #expect(link.droppedFrames == 25)
    }
  }
}

/// Of display links, without diagnostics.
@Suite struct FrameTests {
  @Test func framesThatComeTooLateAreCounted() throws {
    let test = TestLoop()
    let first = Counter()
    let link = TrackedDisplayLink(target: Witness(), source: TimedFrameSource(framesPerSecond: 50)) { _, _ in
      test.note("frame")
      if first.up() == 1 { test.clock.advance(by: .milliseconds(70)) }
    }
    try link.add(to: test.loop, forMode: .default)
    test.run(seconds: 0.13)
    #expect(test.log == ["frame@0.02", "frame@0.1", "frame@0.12"])
    #expect(link.droppedFrames == 3)
    link.isPaused = true
    test.run(seconds: 1)
    link.isPaused = false
    test.run(seconds: 0.1)
    #expect(link.droppedFrames == 3)
  }

  @Test func framesOfADisplayThatNobodyServesDoNotPileUp() throws {
    let test = TestLoop()
    let source = ManualFrameSource()
    let stamps = Locked<[Duration]>([])
    let link = TrackedDisplayLink(target: Witness(), source: source) { _, link in
      stamps.withLock { $0.append(link.timestamp) }
    }
    try link.add(to: test.loop, forMode: .tracking)
    for second in 1...1000 { source.beginFrame(timestamp: .seconds(second)) }
    test.run(.tracking, seconds: 0)
    #expect(stamps.withLock { $0 } == [.seconds(1000)])
    #expect(link.droppedFrames == 999)
    // What is on its way in a mode that the link leaves is for nobody, and stops nothing.
    source.beginFrame(timestamp: .seconds(1001))
    try link.add(to: test.loop, forMode: .default)
    link.remove(from: test.loop, forMode: .tracking)
    source.beginFrame(timestamp: .seconds(1002))
    test.run(seconds: 0)
    #expect(stamps.withLock { $0 } == [.seconds(1000), .seconds(1002)])
  }

  @Test func aSourceMayUseTheLink() throws {
    final class Nosy: FrameSource, @unchecked Sendable {
      weak var link: TrackedDisplayLink?
      override var framesPerSecond: Int {
        _ = link?.isValid
        return 0
      }
      override func frame(after instant: Int64) -> Int64 {
        _ = link?.timestamp
        return instant + 10_000_000
      }
      override func add(_ listener: @escaping @Sendable (Int64) -> Void) -> Int {
        link?.name = "nosy"
        return 1
      }
      override func remove(_ listener: Int) { _ = link?.isPaused }
    }
    let test = TestLoop()
    let source = Nosy()
    let target = Witness()
    let link = TrackedDisplayLink(target: target, source: source) { target, _ in target.tick() }
    source.link = link
    try link.add(to: test.loop, forMode: .default)
    test.run(seconds: 0.055)
    #expect(link.name == "nosy")
    #expect(target.ticks.load(ordering: .relaxed) >= 5)
    link.invalidate()
  }
}
