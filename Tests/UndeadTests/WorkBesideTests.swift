import Dispatch
import Foundation
import Synchronization
import Testing

@testable import Undead

private let texts = Mutex<[String]>([])
private nonisolated(unsafe) var timerBeside: (any DispatchSourceTimer)?

private struct SiteAmongOthers: AssertionSite {
  static var hasTestsBeside: Bool { true }
  let place: String
  func record(_ outcome: AssertionOutcome, _ text: String) { texts.withLock { $0.append("\(outcome) \(text)") } }
}

private struct OnlySite: AssertionSite {
  var place: String { "here:1" }
  func record(_ outcome: AssertionOutcome, _ text: String) { texts.withLock { $0.append("\(outcome) \(text)") } }
}

/// What a task starts that belongs to no check, while a check runs.
private func check(_ site: some AssertionSite, start: @escaping @Sendable () -> Void) async -> String? {
  let (steps, step) = AsyncStream.makeStream(of: Void.self)
  let (answers, answer) = AsyncStream.makeStream(of: Void.self)
  Task.detached {
    for await _ in steps { break }
    start()
    answer.yield()
  }
  await site.assertNoTasksLeft(grace: .zero) {
    step.yield()
    for await _ in answers { break }
  }
  return texts.withLock { $0.popLast() }
}

private func startTimer() {
  let timer = DispatchSource.makeTimerSource()
  timer.schedule(deadline: .now() + 1000)
  timer.resume()
  timerBeside = timer
}

private func startThread() {
  let hasBegun = DispatchSemaphore(value: 0)
  Thread.detachNewThread {
    hasBegun.signal()
    DispatchSemaphore(value: 0).wait()
  }
  hasBegun.wait()
}

/// Nobody knows who started what was started in no scope: a test that is not checked, if some may run meanwhile.
@Suite struct WorkBesideTests {
  @Test func isNoFailureAmongOtherTests() async {
    await #expect(processExitsWith: .success) {
      // A note is given once at each place.
      for (place, start) in [("here:2", startTimer), ("here:3", startThread)] {
        let text = await check(SiteAmongOthers(place: place), start: start)
        #expect(text?.hasPrefix("note ") == true)
      }
    }
  }

  @Test func isTheOnlyTestsElsewhere() async {
    await #expect(processExitsWith: .success) {
      #expect(await check(OnlySite(), start: startTimer)?.contains("failure left: something") == true)
      #expect(await check(OnlySite(), start: startThread)?.contains("thread that still runs") == true)
    }
  }
}
