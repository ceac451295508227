import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// What a loop is given, and how it is refused.
@Suite(.timeLimit(.minutes(20))) struct ItemTests {
  /// An item of one of the four kinds, with what is done to it.
  private struct Item {
    let name: String
    let add: (TrackedRunLoop, TrackedRunLoop.Mode) throws -> Bool
    let remove: (TrackedRunLoop, TrackedRunLoop.Mode) -> Void
    let invalidate: () -> Void
    let isValid: () -> Bool
  }

  private func items() throws -> [Item] {
    let timer = try TrackedTimer(after: .seconds(1)) { _ in }
    let source = TrackedRunLoopSource { _ in }
    let observer = TrackedRunLoopObserver { _, _ in }
    let link = TrackedDisplayLink(target: Witness()) { _, _ in }
    return [
      Item(
        name: "timer", add: { try $0.add(timer, forMode: $1) }, remove: { $0.remove(timer, forMode: $1) },
        invalidate: timer.invalidate, isValid: { timer.isValid }),
      Item(
        name: "source", add: { try $0.add(source, forMode: $1) }, remove: { $0.remove(source, forMode: $1) },
        invalidate: source.invalidate, isValid: { source.isValid }),
      Item(
        name: "observer", add: { try $0.add(observer, forMode: $1) }, remove: { $0.remove(observer, forMode: $1) },
        invalidate: observer.invalidate, isValid: { observer.isValid }),
      Item(
        name: "display link", add: { try link.add(to: $0, forMode: $1) },
        remove: { link.remove(from: $0, forMode: $1) },
        invalidate: link.invalidate, isValid: { link.isValid }),
    ]
  }

  @Test func everyKindOfItemIsRefusedInOneWay() throws {
    let first = TestLoop(name: "first")
    let second = TestLoop(name: "second")
    for item in try items() {
      #expect(try item.add(first.loop, .default))
      #expect(try !item.add(first.loop, .default))
      #expect(try item.add(first.loop, .tracking))
      #expect(throws: RunLoopError.belongsToAnotherLoop(item: item.name, loop: "first")) {
        try item.add(second.loop, .default)
      }
      item.remove(first.loop, .default)
      item.remove(first.loop, .tracking)
      #expect(try item.add(second.loop, .default))
      #expect(item.isValid())
      item.invalidate()
      #expect(!item.isValid())
      #expect(throws: RunLoopError.invalidated(item: item.name)) { try item.add(first.loop, .default) }
    }
  }

  @Test func aLoopThatIsOverRefusesEveryKind() throws {
    let thread = RunLoopThread(name: "over")
    let loop = thread.loop
    thread.stop()
    #expect(eventually { loop.isFinished })
    let over = RunLoopError.loopFinished(loop: "over")
    for item in try items() {
      #expect(throws: over) { try item.add(loop, .default) }
    }
    #expect(throws: over) { try loop.schedule(after: .seconds(1)) { _ in } }
    #expect(throws: over) { try loop.perform(after: .seconds(1), on: Witness()) { _ in } }
    #expect(loop.run(mode: .common, for: .seconds(1)) == .finished)
  }

  @Test func aTimerKnowsHowLongItIsUntilItFires() throws {
    let test = TestLoop()
    let timer = try test.loop.schedule(every: .milliseconds(400)) { _ in test.note("tick") }
    #expect(timer.timeUntilFire == .milliseconds(400))
    timer.timeUntilFire = .milliseconds(50)
    test.clock.advance(by: .milliseconds(60))
    #expect(timer.timeUntilFire == .milliseconds(-10))
  }

  @Test func blocksWithUserInfo() throws {
    let test = TestLoop()
    let deaths = Counter()
    var info: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(after: .seconds(1), repeats: true, userInfo: info) { timer in
      (timer.userInfo as? Witness)?.tick()
      test.note(timer.userInfo is Witness ? "carries" : "nothing")
    }
    try test.loop.add(timer)
    info = nil
    test.advance(by: .seconds(1))
    test.expectLog(["carries@1.0"])
    #expect(deaths.count == 0)
    timer.invalidate()
    #expect(deaths.count == 1)
  }
}
