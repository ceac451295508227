import CUndeadRunLoop
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Loops that something else calls when they have something to do.
@Suite(.timeLimit(.minutes(20))) struct DrivenLoopTests {
  private let queue = DispatchQueue(label: "driver")

  private func isReadable(_ descriptor: Int32, milliseconds: Int32 = 0) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, milliseconds) == 1
  }

  @Test(arguments: [false, true]) func timersAndBlocks(isWall: Bool) throws {
    let loop = TrackedRunLoop(clock: isWall ? RunLoopClock.wall : RunLoopClock.monotonic)
    let driver = loop.drive(on: queue)
    defer { driver.cancel() }
    let (fired, ran) = (Counter(), Counter())
    let queue = queue
    let timer = try loop.schedule(every: .seconds(0.001)) { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      fired.up()
    }
    for count in 1...20 {
      loop.perform { ran.up() }
      #expect(eventually { ran.count == count })
    }
    #expect(eventually { fired.count > 5 })
    timer.invalidate()
    let late = try loop.schedule(after: .seconds(0.02)) { _ in fired.up() }
    try loop.perform(waitUntilDone: true) { #expect(loop.isCurrentThread) }
    #expect(eventually { !late.isValid })
  }

  /// The descriptor must not stay readable for something that the mode never serves: who polls it would burn a processor.
  @Test func workForOtherModesIsToldOnce() throws {
    let loop = TrackedRunLoop()
    let descriptor = loop.pollDescriptor
    for mode in [TrackedRunLoop.Mode.default, .tracking] {
      loop.perform(inModes: [.init("elsewhere")]) {}
      _ = try loop.schedule(after: .seconds(0), mode: .init("elsewhere")) { _ in }
      #expect(loop.runPending(mode: mode) == .finished)
      #expect(!isReadable(descriptor))
    }
    loop.perform(inModes: [.init("elsewhere")]) {}
    #expect(loop.runPending() == .finished)
    #expect(!isReadable(descriptor, milliseconds: 20))
    loop.perform {}
    #expect(isReadable(descriptor))
    loop.runPending()
    #expect(!isReadable(descriptor))
  }

  @Test func wakeUpCallsTheDriver() throws {
    let loop = TrackedRunLoop()
    let passes = Counter()
    try loop.add(TrackedRunLoopObserver(activities: .beforeTimers) { _, _ in passes.up() }, forMode: .default)
    try loop.schedule(after: .seconds(1000)) { _ in }
    loop.wakeUp()
    let driver = loop.drive(on: queue)
    defer { driver.cancel() }
    queue.sync {}
    let before = passes.count
    loop.wakeUp()
    #expect(eventually { passes.count > before })
  }

  @Test func aLoopThatIsDrivenAndRun() throws {
    let loop = TrackedRunLoop()
    try loop.schedule(after: .seconds(1000)) { _ in }
    let driver = loop.drive(on: queue)
    defer { driver.cancel() }
    let calls = Counter()
    for round in 1...20 {
      // Each perform below is done by the run, or by the driver.
      let (isIn, mayGoOn) = (Completion(), Completion())
      let isOver = Completion()
      DispatchQueue.global().async {
        runThread {
          loop.perform {
            isIn.finish()
            _ = mayGoOn.wait()
          }
          while loop.run(for: .milliseconds(1)) == .finished { pause(milliseconds: 0) }
          isOver.finish()
        }
      }
      #expect(isIn.wait())
      loop.perform { calls.up() }
      mayGoOn.finish()
      #expect(isOver.wait())
      #expect(eventually { calls.count == round })
    }
  }

  /// While a callback of a run on another thread takes its time, the driver must not spin.
  @Test func aDriverRestsWhileTheLoopRunsElsewhere() throws {
    let loop = TrackedRunLoop()
    let driver = loop.drive(on: queue)
    defer { driver.cancel() }
    queue.sync {}
    let thread = RunLoopThread(name: "runs it")
    defer { thread.stop() }
    let (isIn, mayGoOn) = (Completion(), Completion())
    let source = TrackedRunLoopSource { _ in }
    queue.suspend()
    try loop.add(source, forMode: .default)
    thread.loop.perform {
      loop.perform {
        isIn.finish()
        _ = mayGoOn.wait()
      }
      loop.run(for: .zero)
    }
    #expect(isIn.wait())
    queue.resume()
    loop.perform {}
    let isResting = { loop.core.withLock { loop.core.state.pointee.driving.isWaiting } }
    #expect(eventually(isResting))
    // Cancelled while it rests, it lets go when the run is over.
    driver.cancel()
    mayGoOn.finish()
    #expect(eventually { driver.isCancelled })
    source.invalidate()
  }

  @Test func twoDriversShareALoop() throws {
    let loop = TrackedRunLoop()
    let drivers = [loop.drive(on: queue), loop.drive(on: DispatchQueue(label: "other"))]
    let (ran, fired) = (Counter(), Counter())
    let overlap = Atomic(0)
    @Sendable func alone(_ counter: Counter) {
      #expect(overlap.add(1, ordering: .sequentiallyConsistent).newValue == 1)
      counter.up()
      overlap.subtract(1, ordering: .sequentiallyConsistent)
    }
    let timer = try loop.schedule(every: .seconds(0.0005)) { _ in alone(fired) }
    for count in 1...300 {
      loop.perform { alone(ran) }
      if count == 150 { drivers[0].cancel() }
    }
    #expect(eventually { ran.count == 300 && fired.count > 10 })
    #expect(eventually { drivers[0].isCancelled })
    let before = fired.count
    #expect(eventually { fired.count > before + 5 })
    drivers[1].cancel()
    timer.invalidate()
  }

  @Test func aDriverCancelledInItsOwnCall() throws {
    let loop = TrackedRunLoop()
    let driver = Locked<RunLoopDriver?>(loop.drive(on: queue))
    let ran = Counter()
    loop.perform {
      driver.withLock { $0.take() }?.cancel()
      ran.up()
    }
    #expect(eventually { ran.count == 1 })
    #expect(eventually { !loop.core.withLock { loop.core.state.pointee.driving.isDriven } })
    #expect(loop.core.withLock { loop.core.state.pointee.poller.timer } == -1)
    // Nobody drives it any more, and it can be run.
    loop.perform { ran.up() }
    queue.sync {}
    #expect(ran.count == 1)
    #expect(loop.run(for: .zero) != .stopped)
    #expect(ran.count == 2)
  }

  @Test func firingElsewhereIsDoneByTheDriver() throws {
    let loop = TrackedRunLoop()
    let driver = loop.drive(on: queue)
    let fired = Counter()
    let queue = queue
    let timer = try loop.schedule(every: .seconds(1000)) { _ in
      dispatchPrecondition(condition: .onQueue(queue))
      fired.up()
    }
    for count in 1...50 {
      timer.fire()
      #expect(eventually { fired.count == count })
    }
    timer.invalidate()
    driver.cancel()
    #expect(eventually { driver.isCancelled })
    // Nobody drives or runs it: the call is made here.
    let here = try loop.schedule(every: .seconds(1000)) { _ in fired.up() }
    here.fire()
    #expect(fired.count == 51)
    here.invalidate()
  }

  @Test func aDrivenLoopWhoseThreadEnds() {
    let loop = Locked<TrackedRunLoop?>(nil)
    let driver = Locked<RunLoopDriver?>(nil)
    let queue = queue
    runThread {
      let own = TrackedRunLoop.current
      own.perform {}
      loop.withLock { $0 = own }
      let made = own.drive(on: queue)
      driver.withLock { $0 = made }
    }
    queue.sync {}
    #expect(loop.withLock { $0 }?.isFinished == true)
    #expect(loop.withLock { $0 }.map { !isReadable($0.pollDescriptor) } ?? false)
    driver.withLock { $0 }?.cancel()
  }

  /// A process of its own: the next loop gets the state of the one that was asked for its descriptor after its end.
  @Test func anEndedLoopLeavesNoTimerToTheNext() async {
    await #expect(processExitsWith: .success) {
      let ended = Locked<TrackedRunLoop?>(nil)
      runThread {
        TrackedRunLoop.current.perform {}
        ended.withLock { $0 = TrackedRunLoop.current }
      }
      #expect(ended.withLock { $0?.isFinished } == true)
      #expect(ended.withLock { $0?.pollDescriptor ?? -1 } >= 0)
      ended.withLock { $0 = nil }
      let clock = VirtualClock()
      let loop = TrackedRunLoop(clock: clock)
      _ = try loop.schedule(every: .milliseconds(4)) { _ in }
      #expect(loop.run(for: .milliseconds(9)) == .timedOut)
      #expect(clock.now == 9_000_000)
    }
  }
}
