import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Sources and observers that several threads add, remove and end at once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SourceRaceTests {
  private let time: Int64 = 300_000_000

  private func untilTimeIsUp(_ body: () -> Void) {
    let end = RunLoopClock.monotonic.now + time
    while RunLoopClock.monotonic.now < end { body() }
  }

  @Test func anEndedSourceIsInNoLoop() throws {
    let loop = TrackedRunLoop(name: "claimed")
    let pipe = Pipe()
    pipe.send()
    let current = Locked<TrackedRunLoopSource?>(nil)
    let isOver = Atomic(false)
    let ender = Completion()
    let thread = RunLoopThread(name: "ender")
    defer { thread.stop() }
    thread.loop.perform {
      var count = 0
      while !isOver.load(ordering: .acquiring) {
        guard let source = current.withLock({ $0.take() }) else { continue }
        count += 1
        // Now a little sooner, now a little later.
        for _ in 0..<count % 50 { _ = isOver.load(ordering: .acquiring) }
        source.invalidate()
      }
      ender.finish()
    }
    var round = 0
    untilTimeIsUp {
      round += 1
      let source =
        switch round % 3 {
        case 0: TrackedRunLoopSource { _ in }
        case 1: TrackedRunLoopSource(signal: SIGCONT) { _ in }
        default: TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { _, _ in }
        }
      current.withLock { $0 = source }
      _ = try? loop.add(source, forMode: .common)
      while source.isValid { sched_yield() }
      #expect(!loop.contains(source, forMode: .default))
    }
    isOver.store(true, ordering: .releasing)
    #expect(ender.wait())
    #expect(loop.core.withLock { loop.core.state.pointee.sources.isEmpty })
    // A dead source that is still polled would make this run busy, and last.
    #expect(loop.run(for: .seconds(100)) == .finished)
  }

  /// Each asks for the name of the loop that has the item, which that loop's lock guards.
  @Test func twoLoopsRefuseEachOthersItems() throws {
    let loops = (0..<2).map { TrackedRunLoop(name: "refusing \($0)") }
    let anchors = loops.map { _ in TrackedRunLoopSource { _ in } }
    let sources = loops.map { _ in TrackedRunLoopSource(signal: SIGCONT) { _ in } }
    let observers = loops.map { _ in TrackedRunLoopObserver(activities: .entry) { _, _ in } }
    for index in 0..<2 {
      try loops[index].add(anchors[index], forMode: .common)
      try loops[index].add(sources[index], forMode: .default)
      try loops[index].add(observers[index], forMode: .default)
    }
    let refusals = Counter()
    let running = Counter()
    concurrently(4) { index in
      let (own, other) = (index % 2, 1 - index % 2)
      if index < 2 {
        // Each change of the mode has the loop look at its source.
        while refusals.count < 2 * 20_000 {
          loops[own].run(mode: .default, for: .zero)
          loops[own].run(mode: .tracking, for: .zero)
          running.up()
        }
      } else {
        for _ in 0..<10_000 {
          do { try loops[own].add(sources[other], forMode: .tracking) } catch { refusals.up() }
          if (try? loops[own].add(observers[other], forMode: .tracking)) == nil { refusals.up() }
        }
      }
    }
    #expect(refusals.count == 2 * 20_000 && running.count > 0)
    for source in sources + anchors { source.invalidate() }
  }

  @Test func itemsMoveBetweenLoops() throws {
    let threads = (0..<2).map { RunLoopThread(name: "mover \($0)") }
    defer { for thread in threads { thread.stop() } }
    let calls = Counter()
    let source = TrackedRunLoopSource { _ in calls.up() }
    let observer = TrackedRunLoopObserver { _, _ in }
    concurrently(4) { index in
      let loop = threads[index % 2].loop
      for _ in 0..<2000 {
        _ = try? loop.add(source, forMode: .common)
        _ = try? loop.add(observer, forMode: .common)
        source.signal()
        loop.remove(source, forMode: .common)
        loop.remove(observer, forMode: .common)
      }
    }
    for thread in threads {
      #expect(!thread.loop.contains(source, forMode: .common))
      #expect(!thread.loop.contains(observer, forMode: .common))
    }
    // A signal that nobody has dealt with is not lost on the way.
    let before = calls.count
    source.signal()
    #expect(try threads[0].loop.add(source, forMode: .common))
    #expect(eventually { calls.count > before })
  }

  @Test func noSignalIsLost() throws {
    let thread = RunLoopThread(name: "signalled")
    defer { thread.stop() }
    let sent = Atomic(0)
    let seen = Atomic(0)
    let source = TrackedRunLoopSource { _ in
      seen.store(sent.load(ordering: .sequentiallyConsistent), ordering: .sequentiallyConsistent)
    }
    try thread.loop.add(source, forMode: .common)
    for count in 1...2000 {
      sent.store(count, ordering: .sequentiallyConsistent)
      source.signal()
      if count % 50 == 0 { #expect(eventually { seen.load(ordering: .sequentiallyConsistent) == count }) }
    }
    source.invalidate()
  }

  /// What is let go of may do anything, also ask the loop.
  @Test func nothingIsReleasedUnderTheLock() throws {
    let deaths = Counter()
    let other = TrackedRunLoop(name: "asked")
    for end in 0..<4 {
      var loop: TrackedRunLoop? = TrackedRunLoop(name: "letting go")
      let asked = try #require(loop)
      func witness() -> Witness {
        Witness { [weak asked] in
          _ = asked?.name
          asked?.perform {}
          _ = asked?.inspection()
          other.perform {}
          deaths.up()
        }
      }
      var source: TrackedRunLoopSource? = TrackedRunLoopSource { [witness = witness()] _ in witness.tick() }
      var observer: TrackedRunLoopObserver? = TrackedRunLoopObserver { [witness = witness()] _, _ in witness.tick() }
      if let source, let observer {
        try asked.add(source, forMode: .default)
        try asked.add(observer, forMode: .default)
        if end == 0 { source.invalidate() }
        if end == 0 { observer.invalidate() }
        if end == 1 { asked.remove(source, forMode: .default) }
        if end == 1 { asked.remove(observer, forMode: .default) }
        if end == 2 { asked.finish() }
      }
      source = nil
      observer = nil
      if end == 3 { asked.finish() }
      loop = nil
    }
    #expect(deaths.count == 8)
  }

  @Test func aThreadsNumberIsNotUsedAgain() {
    let seen = Locked<Set<UInt>>([])
    for _ in 0..<100 { runThread { seen.withLock { _ = $0.insert(threadNumber()) } } }
    #expect(seen.withLock { $0.count } == 100)
    #expect(threadNumber() == threadNumber())
  }
}
