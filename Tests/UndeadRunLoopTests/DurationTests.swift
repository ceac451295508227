import CUndeadRunLoop
import Dispatch
import FoundationEssentials
import Glibc
import Testing

@testable import UndeadRunLoop

/// The forms with `Duration`, `userInfo` for blocks, items of all kinds, settings of threads.
@Suite(.timeLimit(.minutes(20))) struct DurationTests {
  @Test func timersOfALoop() throws {
    let test = TestLoop()
    let owner = Witness()
    try test.loop.schedule(after: .milliseconds(250)) { _ in test.note("after") }
    try test.loop.schedule(every: .milliseconds(400)) { _ in test.note("every") }
    try test.loop.schedule(every: .milliseconds(400), weak: owner) { owner, _ in owner.tick() }
    try test.loop.perform(after: .milliseconds(300), on: owner) { _ in test.note("perform") }
    try test.loop.insert(TrackedTimer(after: .milliseconds(100), target: owner) { _, _ in test.note("target") })
    try test.loop.insert(
      TrackedTimer(fire: test.date.addingTimeInterval(0.5), interval: .milliseconds(100), repeats: false) { _ in
        test.note("dated")
      })
    test.advance(by: .milliseconds(800))
    test.expectLog(["target@0.1", "after@0.25", "perform@0.3", "every@0.4", "dated@0.5", "every@0.8"])
    #expect(owner.ticks.load(ordering: .relaxed) == 2)
  }

  @Test func whatTimersTell() throws {
    let test = TestLoop()
    let timer = try test.loop.schedule(every: .milliseconds(400)) { _ in test.note("tick") }
    #expect(timer.interval == .milliseconds(400))
    #expect(timer.timeUntilFire == .milliseconds(400))
    timer.toleranceDuration = .milliseconds(150)
    #expect(timer.toleranceDuration == .milliseconds(150))
    #expect(timer.tolerance == 0.15)
    timer.timeUntilFire = .milliseconds(50)
    test.clock.advance(by: .milliseconds(60))
    #expect(timer.timeUntilFire == .milliseconds(-10))
    #expect(try TrackedTimer(after: .seconds(1)) { _ in }.interval == .zero)
  }

  @Test func whatCouldBeBothMeansWhatItMeant() throws {
    // These compile, and are the forms with Double.
    let loop = TrackedRunLoop(clock: VirtualClock())
    try loop.schedule(after: .zero) { _ in }
    try loop.schedule(after: 0) { _ in }
    #expect(throws: RunLoopError.self) { try loop.schedule(every: .nan) { _ in } }
    #expect(throws: RunLoopError.self) { try loop.schedule(every: .infinity) { _ in } }
    _ = try TrackedTimer(timeInterval: 1) { _ in }
  }

  @Test func limits() throws {
    let test = TestLoop()
    let start = test.taskClock.now
    try test.loop.schedule(every: .seconds(1)) { _ in test.note("tick") }
    test.loop.run(until: start + .seconds(2))
    #expect(test.elapsed == .seconds(2))
    #expect(test.loop.run(mode: .default, before: start + .seconds(3)) == .timedOut)
    test.expectLog(["tick@1.0", "tick@2.0", "tick@3.0"])
  }

  @Test func otherTimers() async throws {
    let target = Witness()
    let queue = DispatchQueue(label: "timers")
    let dispatch = try DispatchTimer(timeInterval: .milliseconds(1), repeats: true, queue: queue) { _ in target.tick() }
    dispatch.toleranceDuration = .microseconds(100)
    #expect(dispatch.toleranceDuration == .microseconds(100))
    let weak = try WeakTimer(
      timeInterval: .milliseconds(1), target: target, repeats: true, dispatchQueue: queue
    ) { target, _ in target.tick() }
    let id = try PreciseTimer.execTask(interval: .milliseconds(1), repeats: false, async: true) { target.tick() }
    #expect(throws: RunLoopError.self) {
      try PreciseTimer.execTask(start: .seconds(-1), interval: .seconds(1), repeats: false, async: true) {}
    }
    #expect(weak.isValid)
    PreciseTimer.cancelTask(id)
    weak.invalidate()
    dispatch.invalidate()
  }

  @Test func blocksWithUserInfo() throws {
    let test = TestLoop()
    let deaths = Counter()
    var info: Witness? = Witness { deaths.up() }
    let timer = try TrackedTimer(after: .seconds(1), repeats: true, userInfo: info) { timer in
      (timer.userInfo as? Witness)?.tick()
      test.note(timer.userInfo is Witness ? "carries" : "nothing")
    }
    let seconds = try TrackedTimer(timeInterval: 1, repeats: true, userInfo: 42) { timer in
      test.note("\(timer.userInfo as? Int ?? 0)")
    }
    try test.loop.insert(timer)
    try test.loop.insert(seconds)
    info = nil
    test.advance(by: .seconds(1))
    test.expectLog(["carries@1.0", "42@1.0"])
    #expect(deaths.count == 0)
    timer.invalidate()
    #expect(deaths.count == 1)
  }

  // MARK: One way to be refused

  @Test func everyKindOfItemIsRefusedInOneWay() throws {
    let first = TestLoop(name: "first")
    let second = TestLoop(name: "second")
    let items: [(any RunLoopItem, String)] = [
      (try TrackedTimer(after: .seconds(1)) { _ in }, "timer"), (TrackedRunLoopSource { _ in }, "source"),
      (TrackedRunLoopObserver { _, _ in }, "observer"),
      (TrackedDisplayLink(target: Witness()) { _, _ in }, "display link"),
    ]
    for (item, name) in items {
      #expect(try first.loop.insert(item, forMode: .default))
      #expect(try !first.loop.insert(item, forMode: .default))
      #expect(try first.loop.insert(item, forMode: .tracking))
      #expect(throws: RunLoopError.belongsToAnotherLoop(item: name, loop: "first")) {
        try second.loop.insert(item, forMode: .default)
      }
      first.loop.remove(item, forMode: .default)
      first.loop.remove(item, forMode: .tracking)
      #expect(try second.loop.insert(item))
      #expect(item.isValid)
      item.invalidate()
      #expect(!item.isValid)
      #expect(throws: RunLoopError.invalidated(item: name)) { try first.loop.insert(item) }
    }
  }

  @Test func aLoopThatIsOverRefusesEveryKind() throws {
    let thread = RunLoopThread(name: "over")
    let loop = thread.loop
    thread.stop()
    #expect(eventually { loop.isFinished })
    let items: [any RunLoopItem] = [
      try TrackedTimer(after: .seconds(1)) { _ in }, TrackedRunLoopSource { _ in },
      TrackedRunLoopObserver { _, _ in }, TrackedDisplayLink(target: Witness()) { _, _ in },
    ]
    for item in items {
      #expect(throws: RunLoopError.loopFinished(loop: "over")) { try loop.insert(item) }
    }
  }

  // MARK: Threads

  @Test func aThreadHasThePriorityAndTheStackThatItWasGiven() throws {
    let thread = try RunLoopThread(name: "small", settings: .init(priority: .background, stackSize: 256 * 1024))
    defer { thread.stop() }
    let niceness = Locked<Int32>(0)
    let stack = Locked(0)
    try thread.loop.perform(waitUntilDone: true) {
      niceness.withLock { $0 = ownNiceness() }
      stack.withLock { $0 = ownStackSize() }
    }
    #expect(niceness.withLock { $0 } == 19)
    #expect((256 * 1024..<512 * 1024).contains(stack.withLock { $0 }))
    #expect(ownNiceness() != 19)
  }

  @Test func settingsThatAreRefused() {
    #expect(throws: RunLoopError.invalidStackSize(100, atLeast: 128 * 1024)) {
      try RunLoopThread(settings: .init(stackSize: 100))
    }
    #expect(throws: RunLoopError.self) { try RunLoopThread(settings: .init(stackSize: .max)) }
    #expect(throws: RunLoopError.threadFailed(errno: EAGAIN)) {
      try RunLoopThread(settings: .init(stackSize: 1 << 46))
    }
    #expect(throws: RunLoopError.priorityRefused(niceness: 20, errno: EINVAL)) {
      try RunLoopThread(settings: .init(priority: .init(niceness: 20)))
    }
  }
}

private func ownNiceness() -> Int32 {
  getpriority(__priority_which_t(PRIO_PROCESS.rawValue), id_t(undead_loop_thread_id()))
}

private func ownStackSize() -> Int {
  typealias GetAttributes = @convention(c) (pthread_t, UnsafeMutablePointer<pthread_attr_t>) -> Int32
  // A function of GNU, which the Glibc module does not show.
  guard let symbol = dlsym(nil, "pthread_getattr_np") else { return -1 }
  var attributes = pthread_attr_t()
  guard unsafeBitCast(symbol, to: GetAttributes.self)(pthread_self(), &attributes) == 0 else { return -1 }
  defer { pthread_attr_destroy(&attributes) }
  var size = 0
  pthread_attr_getstacksize(&attributes, &size)
  return size
}
