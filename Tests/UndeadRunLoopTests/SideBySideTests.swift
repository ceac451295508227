import Dispatch
import FoundationEssentials
import Testing

@testable import UndeadRunLoop

/// Every kind of timer at once, for one owner.
@Suite(.timeLimit(.minutes(20))) struct SideBySideTests {
  @Test func allKindsOfTimersTickForOneOwnerAndNoneKeepsIt() throws {
    let thread = RunLoopThread(name: "side by side")
    defer { thread.stop() }
    let loop = thread.loop
    let kinds = (0..<8).map { _ in Counter() }
    let deaths = Counter()
    var owner: Witness? = Witness { deaths.up() }
    let target = try #require(owner)
    let weakTarget = try TrackedTimer(timeInterval: 0.001, target: target, holding: .weak, repeats: true) { _, _ in
      kinds[0].up()
    }
    try loop.add(weakTarget, forMode: .default)
    let block = try loop.schedule(every: .seconds(0.001), weak: target) { _, _ in kinds[1].up() }
    let proxy = try TrackedTimer(timeInterval: 0.001, target: WeakProxy(target), repeats: true) { proxy, _ in
      proxy.forward { _ in kinds[2].up() }
    }
    try loop.add(proxy, forMode: .common)
    let onLoop = try WeakTimer.scheduledTimer(timeInterval: .seconds(0.001), target: target, repeats: true, loop: loop)
    { _, _ in
      kinds[3].up()
    }
    let onQueue = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(0.001), target: target, repeats: true, dispatchQueue: .global()
    ) { _, _ in kinds[4].up() }
    let dispatch = try DispatchTimer(timeInterval: .seconds(0.001), weak: target, repeats: true) { _, _ in kinds[5].up()
    }
    dispatch.resume()
    let task = try PreciseTimer.execTask(target: target, interval: .seconds(0.001), repeats: true, async: true) { _ in
      kinds[6].up()
    }
    let link = TrackedDisplayLink(target: WeakProxy(target), source: TimedFrameSource(framesPerSecond: 500)) {
      proxy, link in
      #expect(link.timestamp <= Instants.duration(RunLoopClock.monotonic.now))
      if proxy.target != nil { kinds[7].up() }
    }
    try link.add(to: loop, forMode: .default)
    #expect(eventually { kinds.allSatisfy { $0.count >= 3 } })
    withExtendedLifetime(target) {}
    _ = consume target
    owner = nil
    // A callback that runs now holds its target until it returns.
    #expect(eventually { deaths.count == 1 })
    #expect(eventually { !block.isValid && !onLoop.isValid && !onQueue.isValid && !dispatch.isValid })
    #expect(eventually { !PreciseTimer.activeTasks.contains(task) })
    // These were not asked to end with their target: they tick for nobody, and call nobody.
    #expect(weakTarget.isValid && proxy.isValid && link.isValid)
    let counts = kinds.map(\.count)
    let ticks = proxy.firings
    #expect(eventually { proxy.firings > ticks + 3 })
    #expect(kinds.map(\.count) == counts)
    weakTarget.invalidate()
    proxy.invalidate()
    link.invalidate()
  }
}
