import Foundation
import Synchronization
import Testing
import UndeadRunLoop
import UndeadRunLoopTesting

// Each block of code in the articles stands here word for word, so that it compiles: `DocumentationTests` looks. Nothing but
// the tests among it is run.

// MARK: UndeadRunLoop

private final class Owner {
  func tick(_ timer: TrackedTimer) {}
}

@MainActor private func overview(_ owner: Owner) throws {
  RunLoopDiagnostics.enable { print($0) }
  let timer = try MainRunLoop.shared.scheduledTimer(
    timeInterval: 1, target: owner, holding: .weak, selector: Owner.tick, repeats: true, name: "poll")
  TrackedRunLoop.main.run(for: .seconds(10))
  print(TrackedRunLoop.inspect())
  timer.invalidate()
}

// MARK: MigratingFromFoundation

private func sideBySide() throws {
  let guest = TrackedRunLoop(name: "guest")
  let driver = guest.drive(on: .main)
  try guest.schedule(after: .seconds(1)) { _ in print("called by RunLoop.main") }
  driver.cancel()
}

// MARK: ThreadsAndExecutors

private func ownThread() throws {
  let thread = RunLoopThread(name: "decoder")
  try thread.loop.schedule(every: .milliseconds(40)) { _ in print("frame") }
  thread.loop.perform { print("soon, on the thread") }
  try thread.loop.perform(waitUntilDone: true) { print("done before the next line") }
  thread.stop()
}

private final class Cache {
  func prune() {}
}

private func notSendable(_ loop: TrackedRunLoop) {
  let cache = Cache()
  loop.confine { here in
    _ = try? here.schedule(after: .seconds(60), repeats: true) { _ in cache.prune() }
  }
}

actor Decoder {
  private let thread: RunLoopThread
  nonisolated var unownedExecutor: UnownedSerialExecutor { thread.loop.asUnownedSerialExecutor() }

  init() { thread = RunLoopThread(name: "decoder") }

  func decode() { assert(thread.loop.isCurrentThread) }
}

private func tasks(_ thread: RunLoopThread) async {
  let work = Task(executorPreference: thread.loop) { await compute() }
  await work.value
}

private func compute() async {}

// MARK: VirtualTime

final class Session: Sendable {
  private let timer: TrackedTimer

  init(on loop: TrackedRunLoop, idleLimit: Duration, onExpiry: @escaping @Sendable () -> Void) throws {
    timer = try loop.schedule(after: idleLimit) { _ in onExpiry() }
    idle = idleLimit
  }

  private let idle: Duration
  func touch() { timer.timeUntilFire = idle }
  deinit { timer.invalidate() }
}

@Suite(.timeLimit(.minutes(20))) struct DocumentedTests {
  @Test func aSessionExpiresWhenNobodyTouchesIt() throws {
    let test = TestLoop()
    let session = try Session(on: test.loop, idleLimit: .seconds(1800)) { test.note("expired") }
    test.advance(by: .seconds(1799))
    session.touch()
    test.expectLog([])
    test.advance(by: .seconds(1800))
    test.expectLog(["expired@3599.0"])
  }

  @Test func realTime() {
    let thread = RunLoopThread(name: "worker")
    let done = Mutex(false)
    thread.loop.perform { done.withLock { $0 = true } }
    eventually("the worker worked") { done.withLock { $0 } }
    thread.stop()
  }
}

// MARK: Tolerance

private func tolerant(_ loop: TrackedRunLoop) throws {
  let heartbeat = try loop.schedule(every: .seconds(10)) { _ in print("beat") }
  heartbeat.tolerance = .seconds(1)
}

private func gap(_ loop: TrackedRunLoop) {
  loop.minimumWakeInterval = .zero
}
