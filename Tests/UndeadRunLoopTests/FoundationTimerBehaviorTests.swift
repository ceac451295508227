import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// What swift-corelibs-foundation's TestTimer expects of `Timer`, in terms of this module.
@Suite(.timeLimit(.minutes(20))) struct FoundationTimerBehaviorTests {
  @Test func aNewTimerKnowsItsDateAndItsInterval() throws {
    let fireDate = Date()
    let once = try TrackedTimer(fire: fireDate, interval: .seconds(0.3), repeats: false) { _ in }
    #expect(abs(once.fireDate.timeIntervalSince(fireDate)) < 0.001)
    #expect(once.interval == .zero)
    #expect(!once.isRepeating)
    #expect(once.isValid)
    let repeating = try TrackedTimer(fire: fireDate, interval: .seconds(0.3), repeats: true) { _ in }
    #expect(abs(repeating.fireDate.timeIntervalSince(fireDate)) < 0.001)
    #expect(repeating.interval == .milliseconds(300))
    #expect(repeating.isRepeating)
    #expect(repeating.isValid)
  }

  @Test func scheduledAndAddedAgainItTicksOnce() {
    let ticks = Counter()
    runThread {
      let timer = try? TrackedTimer.scheduledTimer(withTimeInterval: 0.01, repeats: false) { timer in
        ticks.up()
        timer.invalidate()
      }
      guard let timer else { return }
      let loop = TrackedRunLoop.current
      #expect((try? loop.add(timer, forMode: .default)) == false)
      loop.run(until: .distantFuture)
      #expect(!timer.isValid)
    }
    #expect(ticks.count == 1)
  }
}
