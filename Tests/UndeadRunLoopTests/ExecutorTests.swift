import Synchronization
import Testing

@testable import UndeadRunLoop

actor OnALoop {
  nonisolated let loop: TrackedRunLoop
  private(set) var count = 0

  init(_ loop: TrackedRunLoop) { self.loop = loop }

  nonisolated var unownedExecutor: UnownedSerialExecutor { loop.asUnownedSerialExecutor() }

  func up() -> Bool {
    count += 1
    return loop.isCurrentThread
  }

  func sleepThenUp() async -> Bool {
    try? await Task.sleep(for: .milliseconds(1))
    return up()
  }

  nonisolated func assume() -> Bool { assumeIsolated { $0.loop.isCurrentThread } }
}

@Suite(.timeLimit(.minutes(20))) struct ExecutorTests {
  @Test func actorsRunOnTheLoop() async throws {
    let thread = RunLoopThread(name: "actor")
    defer { thread.stop() }
    let actor = OnALoop(thread.loop)
    for _ in 0..<100 { #expect(await actor.up()) }
    #expect(await actor.sleepThenUp())
    #expect(await actor.count == 101)
    let assumed = Counter()
    try thread.loop.perform(waitUntilDone: true) { if actor.assume() { assumed.up() } }
    #expect(assumed.count == 1)
  }

  @Test func tasksPreferTheLoop() async {
    let thread = RunLoopThread(name: "tasks")
    defer { thread.stop() }
    let loop = thread.loop
    let onLoop = await withTaskExecutorPreference(loop) {
      await withTaskGroup(of: Bool.self) { group in
        for _ in 0..<50 { group.addTask { loop.isCurrentThread } }
        return await group.allSatisfy { $0 }
      }
    }
    #expect(onLoop)
    let nested = await Task(executorPreference: loop) { () async -> Bool in
      await Task.yield()
      return loop.isCurrentThread
    }.value
    #expect(nested)
  }

  @Test func jobsOfAFinishedLoopStillRun() async {
    let thread = RunLoopThread(name: "finished")
    let actor = OnALoop(thread.loop)
    thread.stop()
    #expect(eventually { thread.loop.isFinished })
    for _ in 0..<10 { _ = await actor.up() }
    #expect(await actor.count == 10)
  }

  @Test func theMainLoopServesTheMainActorWhenDriven() async throws {
    let driver = TrackedRunLoop.main.drive(on: .main)
    let ticks = Counter()
    let timer = try await MainActor.run {
      try MainRunLoop.shared.scheduledTimer(withTimeInterval: 0.002, repeats: true) { _ in
        MainActor.assertIsolated()
        ticks.up()
      }
    }
    #expect(eventually { ticks.count > 3 })
    timer.invalidate()
    driver.cancel()
  }
}
