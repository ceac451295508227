import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// A loop that sleeps must hear of everything that it has to do.
@Suite(.timeLimit(.minutes(20))) struct WakeUpTests {
  private let mode = TrackedRunLoop.Mode("a mode of its own")

  /// A thread whose loop sleeps in `mode`, where there is nothing to do.
  private func sleeper(_ name: String) throws -> RunLoopThread {
    let thread = RunLoopThread(name: name)
    let loop = thread.loop
    try loop.add(TrackedRunLoopSource { _ in }, forMode: mode)
    loop.perform { [mode] in while loop.run(mode: mode, for: nil) != .stopped {} }
    #expect(eventually { loop.currentMode == mode && isAsleep(loop) })
    return thread
  }

  private func isAsleep(_ loop: TrackedRunLoop) -> Bool {
    loop.core.withLock { loop.core.state.pointee.sleep.isAsleep }
  }

  @Test func aModeThatBecomesCommonWhileTheLoopSleepsInIt() throws {
    let thread = try sleeper("common")
    defer { thread.stop() }
    let (performed, fired) = (Counter(), Counter())
    thread.loop.perform(inModes: [.common]) { performed.up() }
    try thread.loop.schedule(after: .seconds(0), mode: .common) { _ in fired.up() }
    thread.loop.addCommonMode(mode)
    #expect(eventually { performed.count == 1 && fired.count == 1 })
  }

  @Test func aDescriptorThatIsAskedForWhileTheLoopSleeps() throws {
    let thread = try sleeper("asked")
    defer { thread.stop() }
    let loop = thread.loop
    // For the mode that a driver would serve.
    try loop.schedule(after: .seconds(1000)) { _ in }
    #expect(eventually { isAsleep(loop) })
    let sleepsUntil = loop.core.withLock { loop.core.state.pointee.sleep.until }
    #expect(loop.pollDescriptor >= 0)
    #expect(loop.core.withLock { loop.core.state.pointee.sleep.until } == sleepsUntil)
    let performed = Counter()
    loop.perform(inModes: [mode]) { performed.up() }
    #expect(eventually { performed.count == 1 })
  }

  @Test func theThreadsStopEndsRunsThatAStopDoesNot() {
    for until in [nil, Date.distantFuture] {
      let thread = RunLoopThread(name: "nested")
      let loop = thread.loop
      let isNested = Completion()
      loop.perform {
        loop.perform { isNested.finish() }
        if let until { loop.run(until: until) } else { loop.run() }
      }
      #expect(isNested.wait())
      thread.stop()
      #expect(eventually { loop.isFinished })
    }
  }
}
