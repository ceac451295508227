import Dispatch
import Foundation
import Synchronization
import Testing
import UndeadTesting

private let grace = Duration.milliseconds(50)

private final class Gate: Sendable {
  let continuation = Mutex<UnsafeContinuation<Void, Never>?>(nil)
  let tasks = Mutex<[Task<Void, Never>]>([])
}

private func expectLeft(_ words: String, _ body: () -> Void) {
  withKnownIssue {
    assertNoTasksLeft(grace: grace) { body() }
  } matching: { issue in
    let text = issue.comments.first?.rawValue ?? ""
    return text.hasPrefix("left: something was started") && text.contains(words) && text.contains("advice")
      && text.contains("NoTasksLeftTests")
  }
}

private func stay(_ hasBegun: DispatchSemaphore) {
  hasBegun.signal()
  DispatchSemaphore(value: 0).wait()
}

private func expectRunning(
  _ words: String = "block on a queue", _ start: (_ run: @escaping @Sendable () -> Void) -> Void
) {
  expectLeft("\(words) that still runs in UndeadTestingTests.stay") {
    let hasBegun = DispatchSemaphore(value: 0)
    start { stay(hasBegun) }
    hasBegun.wait()
  }
}

/// What is started must end: by the state that the message names, and by the place.
@Suite struct NoTasksLeftTests {
  /// In a process of its own: the tasks need threads while this one waits for them.
  @Test func tasksThatSleepWaitOrFollow() async {
    await #expect(processExitsWith: .success) {
      let (stream, _) = AsyncStream.makeStream(of: Int.self)
      let gate = Gate()
      func keep(_ task: Task<Void, Never>) { gate.tasks.withLock { $0.append(task) } }
      expectLeft("task that sleeps in closure") { keep(Task { try? await Task.sleep(for: .seconds(1000)) }) }
      expectLeft("next element of a sequence in closure") { keep(Task.detached { for await _ in stream {} }) }
      expectLeft("a continuation to be resumed in closure") {
        keep(Task { await withUnsafeContinuation { continuation in gate.continuation.withLock { $0 = continuation } } })
      }
    }
  }

  /// Threads that others keep busy are no reason to fail, nor is what waits for what may still run.
  @Test func tasksThatHaveHadNoTurn() async {
    await #expect(processExitsWith: .success) {
      let isOver = DispatchSemaphore(value: 0)
      @Sendable func block() { isOver.wait() }
      let blockers = 4 * ProcessInfo.processInfo.processorCount
      for _ in 0..<blockers { Task.detached { block() } }
      assertNoTasksLeft(grace: grace) { Task.detached { await Task.detached {}.value } }
      for _ in 0..<blockers { isOver.signal() }
    }
  }

  @Test func timersAndCallsOfDispatch() {
    var timers: [any DispatchSourceTimer] = []
    expectLeft("timer of libdispatch") {
      let timer = DispatchSource.makeTimerSource()
      timer.setEventHandler {}
      timer.schedule(deadline: .now() + 1000)
      timer.resume()
      timers.append(timer)
    }
    for timer in timers { timer.cancel() }
    expectLeft("asyncAfter") { DispatchQueue.global().asyncAfter(deadline: .now() + 1000) {} }
  }

  /// In processes of their own: the threads stay.
  @Test func blocksThatRun() async {
    await #expect(processExitsWith: .success) {
      expectRunning { run in DispatchQueue.global().async(execute: run) }
      expectRunning { run in DispatchQueue(label: "serial").async(execute: DispatchWorkItem(block: run)) }
      expectRunning { run in OperationQueue().addOperation(run) }
    }
  }

  @Test func threadsThatRun() async {
    await #expect(processExitsWith: .success) { expectRunning("thread") { run in Thread.detachNewThread(run) } }
  }

  /// A sleep that is cancelled leaves a task of the runtime behind, until its time has come.
  @Test func whatEndsInTimeIsNothing() async {
    let value = await assertNoTasksLeft {
      let sleeper = Task { try? await Task.sleep(for: .seconds(1000)) }
      await Task.yield()
      sleeper.cancel()
      async let number = Task.detached { 7 }.value
      let timer = DispatchSource.makeTimerSource()
      timer.schedule(deadline: .now() + 1000)
      timer.resume()
      timer.cancel()
      DispatchQueue.global().async {}
      return await number
    }
    #expect(value == 7)
  }

  @Test(.noTasksLeft) func theTraitOfATestThatEndsAll() async { await Task.detached {}.value }
}
