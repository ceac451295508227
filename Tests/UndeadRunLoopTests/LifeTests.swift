import Dispatch
import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Nothing of this module outlives its loop, whether that ended, refused it, or was never run.
@Suite struct LifeTests {
  // MARK: Weak timers

  @Test func aWeakTimerThatIsNeverScheduledDies() throws {
    let loop = TestLoop().loop
    let deaths = Counter()
    let owner = Witness()
    do {
      _ = try WeakTimer(
        timeInterval: .seconds(1), target: owner, userInfo: Witness { deaths.up() }, repeats: true, loop: loop
      ) {
        _, _ in
      }
      _ = try WeakTimer(
        timeInterval: .seconds(1), target: owner, userInfo: Witness { deaths.up() }, repeats: true,
        dispatchQueue: .global()
      ) { _, _ in }
    }
    #expect(deaths.count == 2)
  }

  @Test func aWeakTimerThatIsRefusedDies() throws {
    let deaths = Counter()
    let owner = Witness()
    let loop = finishedLoop()
    try WeakTimer.scheduledTimer(
      timeInterval: .seconds(1), target: owner, userInfo: Witness { deaths.up() }, repeats: true, loop: loop
    ) { _, _ in }
    #expect(deaths.count == 1)
  }

  @Test func aWeakTimerDiesWithItsThread() throws {
    let deaths = Counter()
    let owner = Witness()
    try onThread {
      try WeakTimer.scheduledTimer(
        timeInterval: .seconds(100), target: owner, userInfo: Witness { deaths.up() }, repeats: true
      ) {
        _, _ in
      }
    }
    #expect(deaths.count == 1)
  }

  @Test func aWeakTimerDoesNotKeepItsLoop() throws {
    let deaths = Counter()
    let owner = Witness()
    weak var watched: TrackedRunLoop?
    do {
      let loop = TrackedRunLoop()
      watched = loop
      try WeakTimer.scheduledTimer(
        timeInterval: .seconds(100), target: owner, userInfo: Witness { deaths.up() }, repeats: true, loop: loop
      ) { _, _ in }
    }
    #expect(watched == nil)
    #expect(deaths.count == 1)
  }

  @Test func aWeakTimerOnALoopIsKeptByItAndDiesAfterItsTarget() throws {
    let test = TestLoop()
    weak var timer: WeakTimer?
    var owner: Witness? = Witness()
    timer = try WeakTimer.scheduledTimer(timeInterval: .seconds(1), target: owner!, repeats: true, loop: test.loop) {
      owner, _ in owner.tick()
    }
    test.run(seconds: 2.5)
    #expect(timer?.isValid == true)
    #expect(owner?.ticks.load(ordering: .relaxed) == 2)
    owner = nil
    test.run(seconds: 1)
    #expect(timer == nil)
  }

  @Test func aWeakTimerWithABlockDiesWithItsLoop() throws {
    let deaths = Counter()
    let sum = Counter()
    do {
      let test = TestLoop()
      try WeakTimer.scheduledTimer(timeInterval: .seconds(1), userInfo: 2, repeats: true, loop: test.loop) {
        [witness = Witness { deaths.up() }] timer in
        witness.tick()
        for _ in 0..<(timer.userInfo as? Int ?? 0) { sum.up() }
      }
      try WeakTimer.scheduledTimer(timeInterval: .seconds(1), repeats: true, loop: test.loop) { timer in
        #expect(timer.userInfo == nil)
        sum.up()
      }
      test.run(seconds: 2.5)
    }
    #expect(sum.count == 6)
    #expect(deaths.count == 1)
  }

  @Test func aWeakTimerThatIsInvalidatedDies() throws {
    let test = TestLoop()
    let owner = Witness()
    weak let timer = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(1), target: owner, repeats: true, loop: test.loop
    ) {
      _, timer in timer.invalidate()
    }
    test.run(seconds: 2.5)
    #expect(timer == nil)
    weak let other = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(1), target: owner, repeats: true, loop: test.loop
    ) {
      _, _ in
    }
    other?.invalidate()
    #expect(other == nil)
    weak let once = try WeakTimer.scheduledTimer(
      timeInterval: .seconds(1), target: owner, repeats: false, loop: test.loop
    ) {
      _, _ in
    }
    test.run(seconds: 2.5)
    #expect(once == nil)
  }

  // MARK: Display links

  @Test func aLinkDiesWithItsThread() throws {
    let deaths = Counter()
    weak var link: TrackedDisplayLink?
    try onThread {
      let made = TrackedDisplayLink(target: Witness { deaths.up() }) { _, _ in }
      try made.add(to: .current, forMode: .common)
      link = made
    }
    #expect(link == nil)
    #expect(deaths.count == 1)
  }

  @Test func aLinkDoesNotKeepItsLoop() throws {
    weak var link: TrackedDisplayLink?
    weak var watched: TrackedRunLoop?
    do {
      let loop = TrackedRunLoop()
      watched = loop
      let made = TrackedDisplayLink(target: Witness(), source: ManualFrameSource()) { _, _ in }
      try made.add(to: loop, forMode: .common)
      link = made
    }
    #expect(watched == nil)
    #expect(link == nil)
  }

  @Test func aLinkThatIsRefusedDies() {
    weak var link: TrackedDisplayLink?
    do {
      let made = TrackedDisplayLink(target: Witness()) { _, _ in }
      #expect(throws: RunLoopError.self) { try made.add(to: finishedLoop(), forMode: .default) }
      link = made
    }
    #expect(link == nil)
  }

  @Test func aLinkWhoseLoopEndedMayMove() throws {
    let test = TestLoop()
    let source = ManualFrameSource()
    let target = Witness()
    let link = TrackedDisplayLink(target: target, source: source) { target, _ in target.tick() }
    try onThread { _ = try link.add(to: .current, forMode: .common) }
    source.beginFrame(timestamp: .nanoseconds(1))
    #expect(link.isValid)
    #expect(try link.add(to: test.loop, forMode: .default))
    source.beginFrame(timestamp: .nanoseconds(2))
    test.run(seconds: 0)
    #expect(target.ticks.load(ordering: .relaxed) == 1)
    link.invalidate()
  }

  @Test func frameSourcesForgetLinksThatAreGone() throws {
    let source = ManualFrameSource()
    try onThread {
      let link = TrackedDisplayLink(target: Witness(), source: source) { _, _ in }
      try link.add(to: .current, forMode: .common)
    }
    #expect(source.listenerCount == 0)
  }

  // MARK: Work that a loop never does

  @Test func whatWaitsForALoopDiesWithIt() throws {
    let deaths = Counter()
    weak var watched: TrackedRunLoop?
    do {
      let loop = TrackedRunLoop()
      watched = loop
      let witness = { Witness { deaths.up() } }
      loop.perform { [witness = witness()] in witness.tick() }
      try loop.perform(waitUntilDone: false) { [witness = witness()] in witness.tick() }
      try loop.perform(on: witness(), waitUntilDone: false) { $0.tick() }
      try loop.perform(after: .seconds(100), on: witness()) { $0.tick() }
      try loop.perform(on: witness(), order: 1) { $0.tick() }
      loop.confine { [witness = witness()] _ in witness.tick() }
      try loop.schedule(every: .seconds(100)) { [witness = witness()] _ in witness.tick() }
      let confined = witness()
      loop.confine { here in _ = try? here.schedule(after: .seconds(1), repeats: true) { _ in confined.tick() } }
    }
    #expect(watched == nil)
    #expect(deaths.count == 8)
  }

  @Test func whatWaitsForAThreadDiesWithIt() throws {
    let deaths = Counter()
    try onThread {
      let loop = TrackedRunLoop.current
      let witness = { Witness { deaths.up() } }
      loop.perform(inModes: [.tracking]) { [witness = witness()] in witness.tick() }
      try loop.perform(after: .seconds(100), on: witness()) { $0.tick() }
      try loop.perform(on: witness(), order: 1) { $0.tick() }
      loop.confine { [witness = witness()] here in
        _ = try? here.schedule(after: .seconds(100), repeats: true) { _ in witness.tick() }
      }
      loop.run(for: .zero)
      loop.confine { [witness = witness()] _ in witness.tick() }
    }
    #expect(deaths.count == 5)
  }

  @Test func aTimerThatFiredOnceOrWasStoppedIsLetGoOf() throws {
    let test = TestLoop()
    weak let once = try test.loop.schedule(after: .seconds(1)) { _ in }
    weak let stopped = try test.loop.schedule(every: .seconds(1)) { timer in timer.invalidate() }
    weak let failed = try test.loop.schedule(every: .seconds(1)) { _ in throw RunLoopError.invalidDate }
    #expect(test.run(seconds: 2) == .finished)
    #expect(once == nil && stopped == nil && failed == nil)
  }

  // MARK: Timers without a loop

  @Test func dispatchTimersDieStartedOrNot() throws {
    let deaths = Counter()
    let queue = DispatchQueue(label: "life")
    let make = { @Sendable (repeats: Bool) in
      try DispatchTimer(timeInterval: .seconds(100), repeats: repeats, queue: queue) {
        [witness = Witness { deaths.up() }] _ in
        witness.tick()
      }
    }
    do {
      _ = try make(true)
      let started = try make(true)
      started.resume()
      let ended = try make(false)
      ended.resume()
      ended.fire()
      let invalidated = try make(true)
      invalidated.invalidate()
      invalidated.resume()
    }
    queue.sync {}
    #expect(deaths.count == 4)
  }

  @Test func aTaskWhoseTargetDiedIsForgotten() throws {
    let deaths = Counter()
    let queue = DispatchQueue(label: "life")
    let id: PreciseTimer.ID
    let over = DispatchSemaphore(value: 0)
    do {
      let target = Witness()
      let held = Witness {
        deaths.up()
        over.signal()
      }
      id = try PreciseTimer.execTask(
        target: target, interval: .seconds(0.001), repeats: true, async: true, queue: queue
      ) {
        [held] _ in held.tick()
      }
      #expect(PreciseTimer.activeTasks.contains(id))
    }
    over.wait()
    #expect(deaths.count == 1)
    #expect(!PreciseTimer.activeTasks.contains(id))
    #expect(!PreciseTimer.cancelTask(id))
  }

  // MARK: Loops

  @Test func aThreadDiesWithItsOwner() throws {
    let over = DispatchSemaphore(value: 0)
    weak var watched: TrackedRunLoop?
    do {
      let thread = RunLoopThread(name: "life")
      watched = thread.loop
      try thread.loop.schedule(every: .seconds(100)) { [witness = Witness { over.signal() }] _ in witness.tick() }
    }
    // The timer goes when the thread ends, which lets go of the loop then.
    over.wait()
    #expect(comesTrue { watched == nil })
  }

  @Test func aDriverLetsGoOfItsLoop() {
    let queue = DispatchQueue(label: "life")
    weak var watched: TrackedRunLoop?
    var driver: RunLoopDriver?
    do {
      let loop = TrackedRunLoop()
      watched = loop
      driver = loop.drive(on: queue)
    }
    #expect(watched != nil)
    driver = nil
    // The queue drops the handler when it has seen the cancellation.
    #expect(comesTrue { queue.sync { watched == nil } })
    withExtendedLifetime(driver) {}
  }

  @Test func proxiesKeepNobody() {
    weak var plain: WeakProxy<Witness>?
    weak var stacked: WeakProxy<WeakProxy<Witness>>?
    weak var transparent: TransparentWeakProxy<Witness>?
    let deaths = Counter()
    do {
      let target = Witness { deaths.up() }
      let proxies = (WeakProxy(target), TransparentWeakProxy(target))
      let outer = WeakProxy(proxies.0)
      (plain, transparent, stacked) = (proxies.0, proxies.1, outer)
    }
    #expect(deaths.count == 1)
    #expect(plain == nil && transparent == nil && stacked == nil)
  }
}

/// Runs `body` on a thread of its own that has ended, with its loop, when this returns.
@discardableResult
func onThread<Value, Failure: Error>(_ body: () throws(Failure) -> Value) throws(Failure) -> Value {
  // The thread is joined: nobody uses these two at the same time.
  nonisolated(unsafe) var result: Result<Value, Failure>?
  withoutActuallyEscaping(body) { body in
    nonisolated(unsafe) let body = body
    let start = Start { result = Result(catching: body) }
    var thread = pthread_t()
    let error = pthread_create(
      &thread, nil,
      { @Sendable argument in
        guard let argument else { return nil }
        Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
        return nil
      }, Unmanaged.passRetained(start).toOpaque())
    precondition(error == 0, "no thread: \(error)")
    pthread_join(thread, nil)
  }
  guard let result else { preconditionFailure("the thread ended without a result") }
  return try result.get()
}

private final class Start {
  let body: () -> Void
  init(_ body: @escaping () -> Void) { self.body = body }
}

/// A loop whose thread has ended.
private func finishedLoop() -> TrackedRunLoop { onThread { TrackedRunLoop.current } }

/// Asks until the answer is yes; false if it is not within a minute.
func comesTrue(_ condition: () -> Bool) -> Bool {
  let clock = ContinuousClock()
  let end = clock.now + .seconds(60)
  while !condition() {
    if clock.now > end { return false }
    sched_yield()
  }
  return true
}
