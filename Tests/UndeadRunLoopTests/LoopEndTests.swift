import Dispatch
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// What becomes of a thread's loop, and of what waits for it, when it is stopped or its thread ends.
@Suite(.timeLimit(.minutes(20))) struct LoopEndTests {
  // MARK: - Jobs

  @Test func jobsThatRaceWithTheEndAllRun() async {
    let tasks = 64
    for _ in 0..<50 {
      let thread = RunLoopThread(name: "ends")
      let actor = OnALoop(thread.loop)
      let counted = await withTaskGroup(of: Void.self) { group in
        for index in 0..<tasks {
          group.addTask {
            if index == tasks / 2 { thread.stop() }
            _ = await actor.up()
            await Task.yield()
            _ = await actor.up()
          }
        }
        await group.waitForAll()
        return await actor.count
      }
      #expect(counted == 2 * tasks)
    }
  }

  @Test func tasksThatPreferALoopThatEndsAllRun() async {
    let ran = Counter()
    for _ in 0..<50 {
      let thread = RunLoopThread(name: "ends")
      await withTaskGroup(of: Void.self) { group in
        for index in 0..<32 {
          group.addTask(executorPreference: thread.loop) {
            if index == 16 { thread.stop() }
            await Task.yield()
            ran.up()
          }
        }
      }
    }
    #expect(ran.count == 50 * 32)
  }

  @Test func whatStandsInForTheThreadCountsAsIt() async throws {
    let thread = RunLoopThread(name: "gone")
    let actor = OnALoop(thread.loop)
    thread.stop()
    #expect(eventually { !thread.loop.core.withLock { thread.loop.core.state.pointee.takesJobs } })
    #expect(await actor.up())
    #expect(!thread.loop.isCurrentThread)
    #expect(await actor.waitsForItself())
    #expect(await actor.assumed())
  }

  /// Of two loops that have ended, a job of one may block until one of the other has run.
  @Test func loopsThatEndedDoNotWaitForEachOther() async throws {
    let (first, second) = (RunLoopThread(name: "first"), RunLoopThread(name: "second"))
    for thread in [first, second] {
      thread.stop()
      #expect(eventually { !thread.loop.core.withLock { thread.loop.core.state.pointee.takesJobs } })
    }
    let ran = Completion()
    let waiter = Waiter(first.loop)
    let other = OnALoop(second.loop)
    async let isDone = waiter.wait(for: ran)
    _ = await other.up()
    ran.finish()
    #expect(await isDone)
  }

  @Test func jobsKeepTheirOrderAcrossTheEnd() async {
    for _ in 0..<20 {
      let thread = RunLoopThread(name: "order")
      let order = Log()
      let (isBusy, mayGoOn) = (Completion(), Completion())
      thread.loop.perform {
        isBusy.finish()
        _ = mayGoOn.wait()
      }
      _ = isBusy.wait()
      thread.stop()
      let before = (0..<20).map { number in Task(executorPreference: thread.loop) { order.add(number) } }
      mayGoOn.finish()
      let after = (20..<40).map { number in Task(executorPreference: thread.loop) { order.add(number) } }
      for task in before + after { await task.value }
      #expect(order.entries == Array(0..<40))
    }
  }

  // MARK: - Stopping a thread

  @Test func stopEndsNestedRuns() {
    let elsewhere = TrackedRunLoop.Mode("elsewhere")
    for mode in [TrackedRunLoop.Mode.default, elsewhere] {
      let thread = RunLoopThread(name: "nested")
      let loop = thread.loop
      let results = Locked<[TrackedRunLoop.RunResult]>([])
      @Sendable func nest(_ depth: Int) {
        guard depth < 4 else { return }
        _ = try? loop.schedule(after: .seconds(1000), mode: mode) { _ in }
        loop.perform(inModes: [mode]) { nest(depth + 1) }
        let result = loop.run(mode: mode, for: nil)
        results.withLock { $0.append(result) }
      }
      loop.perform { nest(0) }
      #expect(eventually { loop.core.withLock { loop.core.state.pointee.activations.depth } == 5 })
      thread.stop()
      #expect(eventually { loop.isFinished })
      #expect(results.withLock { $0 } == [.stopped, .stopped, .stopped, .stopped])
    }
  }

  /// `while run(...) != .finished {}` is what people write.
  @Test func aNestedLoopUntilFinishedEnds() {
    let thread = RunLoopThread(name: "until finished")
    let loop = thread.loop
    let runs = Counter()
    loop.perform { while loop.run(for: nil) != .finished { runs.up() } }
    #expect(eventually { loop.core.withLock { loop.core.state.pointee.activations.depth } == 2 })
    thread.stop()
    #expect(eventually { loop.isFinished })
    #expect(runs.count == 1)
  }

  @Test func stopFromItsOwnThread() {
    let thread = RunLoopThread(name: "own")
    let after = Counter()
    thread.loop.perform {
      thread.stop()
      #expect(thread.loop.run(for: nil) == .finished)
      after.up()
    }
    #expect(eventually { thread.loop.isFinished })
    #expect(after.count == 1)
  }

  @Test func aThreadThatIsDroppedOnItselfEnds() {
    let holder = Locked<RunLoopThread?>(RunLoopThread(name: "dropped"))
    let loop = holder.withLock { $0 }.unsafelyUnwrapped.loop
    let after = Counter()
    loop.perform {
      let last = holder.withLock { $0.take() }
      withExtendedLifetime(last) {}
      after.up()
    }
    #expect(eventually { loop.isFinished })
    #expect(after.count == 1)
  }

  @Test func stoppedBeforeItStarted() {
    let deaths = Counter()
    let count = 100
    for _ in 0..<count {
      let thread = RunLoopThread(name: "early")
      let witness = Witness { deaths.up() }
      thread.loop.perform { witness.tick() }
      thread.stop()
    }
    #expect(eventually { deaths.count == count })
  }

  @Test func whoWaitsIsReleasedByAStop() throws {
    let thread = RunLoopThread(name: "busy")
    let loop = thread.loop
    let error = Locked<RunLoopError?>(nil)
    let waiting = RunLoopThread(name: "waiting")
    defer { waiting.stop() }
    waiting.loop.perform {
      do throws(RunLoopError) {
        try loop.perform(waitUntilDone: true, modes: [.init("never")]) {}
      } catch let caught {
        error.withLock { $0 = caught }
      }
    }
    #expect(eventually { loop.core.withLock { loop.core.state.pointee.work.count } == 1 })
    thread.stop()
    #expect(eventually { error.withLock { $0 } == .abandoned(loop: "busy") })
  }

  /// Each waits for the other; one that ends lets go of the other.
  @Test func twoThreadsThatWaitForEachOther() {
    let (first, second) = (RunLoopThread(name: "first"), RunLoopThread(name: "second"))
    let (isWaiting, answers) = (Completion(), Counter())
    first.loop.perform {
      second.loop.perform {
        isWaiting.finish()
        // The first thread is in `wait` below and answers only in the nested run.
        do { try first.loop.perform(waitUntilDone: true) { answers.up() } } catch { answers.up() }
      }
      _ = isWaiting.wait()
      first.stop()
    }
    #expect(eventually { answers.count == 1 })
    second.stop()
    #expect(eventually { first.loop.isFinished && second.loop.isFinished })
  }

  // MARK: - Whose thread it is

  @Test func noOtherThreadInheritsAStoppedLoop() throws {
    let threads = (0..<20).map { RunLoopThread(name: "stopped \($0)") }
    for thread in threads { try thread.loop.perform(waitUntilDone: true) {} }
    for thread in threads { thread.stop() }
    let loops = threads.map(\.loop)
    #expect(eventually { loops.allSatisfy(\.isFinished) })
    let mistaken = Counter()
    for _ in 0..<20 {
      runThread {
        for loop in loops {
          if loop.isCurrentThread { mistaken.up() }
          if (try? loop.perform(waitUntilDone: true) { mistaken.up() }) != nil { mistaken.up() }
        }
      }
    }
    #expect(mistaken.count == 0)
  }

  @Test func aLoopThatWasRunBelongsToNobodyAfterwards() {
    let loop = TrackedRunLoop(clock: VirtualClock())
    runThread {
      loop.perform { #expect(loop.isCurrentThread) }
      loop.run(for: .zero)
      #expect(!loop.isCurrentThread)
    }
    #expect(!loop.isCurrentThread)
  }

  /// What a loop held dies on its thread, and may still ask for it.
  @Test func whatDiesWithTheThreadIsStillOnIt() {
    let loop = Locked<TrackedRunLoop?>(nil)
    let seen = Locked<[Bool]>([])
    let look: @Sendable () -> Void = {
      let isCurrent = loop.withLock { $0 }?.isCurrentThread ?? false
      seen.withLock { $0.append(isCurrent) }
    }
    runThread {
      let own = TrackedRunLoop.current
      loop.withLock { $0 = own }
      let (timed, performed, observed) = (Witness(look), Witness(look), Witness(look))
      _ = try? own.schedule(every: .seconds(1000)) { _ in timed.tick() }
      own.perform { performed.tick() }
      _ = try? own.add(TrackedRunLoopObserver { _, _ in observed.tick() }, forMode: .default)
    }
    #expect(seen.withLock { $0 } == [true, true, true])
    #expect(loop.withLock { $0 }?.isCurrentThread == false)
  }

  @Test func aStateThatIsReusedIsANewLoop() throws {
    for _ in 0..<50 {
      let clock = VirtualClock()
      let loop = TrackedRunLoop(clock: clock)
      #expect(!loop.isFinished && loop.currentMode == nil && loop.commonModes.count == 2)
      #expect(!loop.core.withLock { loop.core.state.pointee.driving.isDriven })
      loop.addCommonMode(.init("common for one"))
      let driver = loop.drive(on: DispatchQueue(label: "one"), mode: .tracking)
      let timer = try loop.schedule(every: .seconds(1)) { _ in }
      loop.perform {}
      loop.perform(inModes: [.init("never")]) {}
      driver.cancel()
      #expect(eventually { driver.isCancelled })
      // From a thread that is not the loop's, when the loop is gone: the timer must not be called by another loop.
      #expect(timer.isValid)
    }
  }
}

extension OnALoop {
  /// On its own thread waiting is a direct call.
  func waitsForItself() -> Bool {
    let ran = Counter()
    // An ended loop takes no blocks, but this is its thread.
    try? loop.perform(waitUntilDone: true) { ran.up() }
    return ran.count == 1
  }

  func assumed() -> Bool { assume() }
}

private actor Waiter {
  nonisolated let loop: TrackedRunLoop

  init(_ loop: TrackedRunLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func wait(for completion: Completion) -> Bool { completion.wait() }
}
