import Glibc
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Sources and observers that several threads add, remove and end at once.
@Suite(.serialized, .timeLimit(.minutes(5))) struct SourceRaceTests {
  private let time: Int64 = 300_000_000

  private func untilTimeIsUp(_ body: () -> Void) {
    let end = MonotonicClock.shared.now + time
    while MonotonicClock.shared.now < end { body() }
  }

  @Test func anEndedSourceIsInNoLoop() throws {
    let loop = TrackedRunLoop(name: "claimed")
    let pipe = Pipe()
    pipe.send()
    let current = Locked<[TrackedRunLoopSource]>([])
    let isOver = Atomic(false)
    let ender = Completion()
    let thread = RunLoopThread(name: "ender")
    defer { thread.stop() }
    thread.loop.perform {
      while !isOver.load(ordering: .acquiring) {
        for source in current.withLock({ $0 }) { source.invalidate() }
      }
      ender.finish()
    }
    untilTimeIsUp {
      let sources = [
        TrackedRunLoopSource { _ in }, TrackedRunLoopSource(signal: SIGCONT) { _ in },
        TrackedRunLoopSource(descriptor: pipe.reading, conditions: .readable) { _, _ in },
      ]
      current.withLock { $0 = sources }
      for source in sources { _ = try? loop.add(source, forMode: .common) }
      while !sources.allSatisfy({ !$0.isValid }) { sched_yield() }
      for source in sources { #expect(!loop.contains(source, forMode: .default)) }
    }
    isOver.store(true, ordering: .releasing)
    #expect(ender.wait())
    current.withLock { $0 = [] }
    #expect(loop.core.withLock { loop.core.state.pointee.sources.isEmpty })
    // A dead source that is still polled would make this run busy, and last.
    #expect(loop.run(for: .seconds(100)) == .finished)
  }

  /// Each asks for the name of the loop that has the item, which that loop's lock guards.
  @Test func twoLoopsRefuseEachOthersItems() throws {
    let loops = (0..<2).map { TrackedRunLoop(name: "refusing \($0)") }
    let sources = loops.map { _ in TrackedRunLoopSource { _ in } }
    let observers = loops.map { _ in TrackedRunLoopObserver { _, _ in } }
    for (loop, source) in zip(loops, sources) { try loop.add(source, forMode: .default) }
    for (loop, observer) in zip(loops, observers) { loop.add(observer, forMode: .default) }
    let refusals = Counter()
    concurrently(4) { index in
      let (own, other) = (index % 2, 1 - index % 2)
      for _ in 0..<20_000 {
        do { try loops[own].add(sources[other], forMode: .default) } catch { refusals.up() }
        if case .failure = loops[own].add(observers[other], forMode: .default) { refusals.up() }
      }
    }
    #expect(refusals.count == 4 * 40_000)
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
        loop.add(observer, forMode: .common)
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
        asked.add(observer, forMode: .default)
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
