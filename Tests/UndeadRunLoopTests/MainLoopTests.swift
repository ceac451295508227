import Foundation
import UndeadRunLoop
import XCTest

/// XCTest rather than Swift Testing, because it calls its tests on the main thread: only there can the main loop run.
final class MainLoopTests: XCTestCase {
  /// Longer than any test here takes on a busy machine.
  private let patience = Date().addingTimeInterval(60)
  private var loop: TrackedRunLoop { TrackedRunLoop.main }

  private func run(until isDone: () -> Bool) {
    while !isDone(), Date() < patience { loop.run(mode: .default, before: patience) }
  }

  private func runFoundations(until isDone: () -> Bool) {
    while !isDone(), Date() < patience {
      _ = RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.1))
    }
  }

  /// The main queue has work until it has let go of the driver: other tests would see it.
  private func cancel(_ driver: RunLoopDriver) {
    driver.cancel()
    runFoundations { driver.isCancelled }
    XCTAssertTrue(driver.isCancelled)
  }

  func testTheMainThreadsLoopIsTheMainLoop() {
    XCTAssertTrue(TrackedRunLoop.current === TrackedRunLoop.main)
    XCTAssertTrue(loop.isCurrentThread)
    XCTAssertEqual(loop.name, "main")
  }

  func testItServesDispatchsMainQueueAgainAndAgain() throws {
    let calls = Calls()
    for count in 1...3 {
      DispatchQueue.main.async { calls.up() }
      XCTAssertEqual(loop.run(mode: .default, before: patience), .handledSource)
      XCTAssertEqual(calls.count, count)
    }
    // Nothing of the earlier calls is left that would end this run.
    try loop.schedule(after: .seconds(0.05)) { _ in
      calls.up()
      TrackedRunLoop.main.stop()
    }
    XCTAssertEqual(loop.run(mode: .default, before: patience), .stopped)
    XCTAssertEqual(calls.count, 4)
  }

  func testItServesTheMainQueueInCommonModesOnly() throws {
    let calls = Calls()
    let modal = TrackedRunLoop.Mode("modal of main")
    let timer = try TrackedTimer(timeInterval: 1000) { _ in }
    try loop.add(timer, forMode: modal)
    DispatchQueue.main.async { calls.up() }
    XCTAssertEqual(loop.run(mode: modal, for: .milliseconds(5)), .timedOut)
    XCTAssertEqual(calls.count, 0)
    XCTAssertEqual(loop.run(mode: .tracking, before: patience), .handledSource)
    XCTAssertEqual(calls.count, 1)
    timer.invalidate()
  }

  func testItServesTheMainActor() {
    let calls = Calls()
    Task { @MainActor in
      XCTAssertTrue(TrackedRunLoop.main.isCurrentThread)
      calls.up()
      await Task.yield()
      try? await Task.sleep(for: .milliseconds(1))
      MainActor.assertIsolated()
      calls.up()
    }
    run { calls.count == 2 }
    XCTAssertEqual(calls.count, 2)
  }

  func testTimersAndBlocksOfTheMainRunLoopAreIsolatedToTheMainActor() throws {
    let calls = Calls()
    let patience = patience
    try MainActor.assumeIsolated {
      let timer = try MainRunLoop.shared.scheduledTimer(withTimeInterval: 0.001, repeats: true) { timer in
        MainActor.assertIsolated()
        calls.up()
        if timer.firings == 3 { timer.invalidate() }
      }
      MainRunLoop.shared.perform {
        MainActor.assertIsolated()
        calls.up()
      }
      while timer.isValid, Date() < patience { TrackedRunLoop.main.run(for: .milliseconds(1)) }
    }
    XCTAssertEqual(calls.count, 4)
  }

  func testAnotherThreadReachesTheMainLoop() {
    let calls = Calls()
    let thread = RunLoopThread(name: "caller")
    thread.loop.perform {
      try? TrackedRunLoop.main.perform(waitUntilDone: true) {
        XCTAssertTrue(TrackedRunLoop.main.isCurrentThread)
        calls.up()
      }
      calls.up()
    }
    while calls.count < 2, Date() < patience { loop.run(for: .milliseconds(1)) }
    XCTAssertEqual(calls.count, 2)
    thread.stop()
  }

  func testActorsAndTasksRunOnIt() {
    let calls = Calls()
    let actor = OnALoop(TrackedRunLoop.main)
    Task.detached {
      for _ in 0..<3 { if await actor.up() { calls.up() } }
      let onLoop = await withTaskExecutorPreference(TrackedRunLoop.main) {
        await Task.yield()
        return TrackedRunLoop.main.isCurrentThread
      }
      if onLoop { calls.up() }
      TrackedRunLoop.main.stop()
    }
    while calls.count < 4, Date() < patience { TrackedRunLoop.main.run(for: .milliseconds(10)) }
    XCTAssertEqual(calls.count, 4)
  }

  func testFoundationsRunLoopDrivesIt() throws {
    let calls = Calls()
    let driver = loop.drive(on: .main)
    let timer = try loop.schedule(every: .seconds(0.001)) { _ in
      XCTAssertTrue(TrackedRunLoop.main.isCurrentThread)
      calls.up()
    }
    runFoundations { calls.count >= 3 }
    timer.invalidate()
    loop.perform { calls.up() }
    let count = calls.count
    runFoundations { calls.count > count }
    XCTAssertGreaterThan(calls.count, 3)
    cancel(driver)
  }

  func testFoundationsRunLoopDrivesALoopOfItsOwn() throws {
    let calls = Calls()
    let own = TrackedRunLoop(name: "driven by Foundation")
    let driver = own.drive(on: .main)
    try own.schedule(after: .seconds(0.002)) { _ in
      XCTAssertTrue(Thread.isMainThread)
      calls.up()
    }
    runFoundations { calls.count > 0 }
    XCTAssertEqual(calls.count, 1)
    cancel(driver)
  }
}

private final class Calls: @unchecked Sendable {
  private let lock = NSLock()
  private var value = 0

  func up() { lock.withLock { value += 1 } }

  var count: Int { lock.withLock { value } }
}
