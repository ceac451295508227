import FoundationEssentials
import Synchronization
import Testing

@testable import UndeadRunLoop

/// Runs `body` on several threads at once, and waits for them.
func concurrently(_ threads: Int, _ body: @escaping @Sendable (Int) -> Void) {
  let done = (0..<threads).map { _ in Completion() }
  for index in 0..<threads {
    let thread = RunLoopThread(name: "worker \(index)")
    thread.loop.perform {
      body(index)
      done[index].finish()
      thread.stop()
    }
  }
  for completion in done { _ = completion.wait() }
}

@Suite(.serialized, .timeLimit(.minutes(20))) struct ConcurrencyTests {
  private let rounds = 2000

  @Test func schedulingAndCancellingFromManyThreads() {
    let thread = RunLoopThread(name: "target")
    defer { thread.stop() }
    let loop = thread.loop
    let fired = Counter()
    let scheduled = Counter()
    concurrently(4) { index in
      for round in 0..<rounds {
        guard let timer = try? loop.schedule(after: .seconds(round % 3 == 0 ? 0 : 1000), { _ in fired.up() }) else {
          continue
        }
        scheduled.up()
        switch round % 5 {
        case 0: timer.tolerance = .seconds(0.001)
        case 1: timer.fireDate = .distantPast
        case 2: timer.fire()
        case 3: _ = try? loop.add(timer, forMode: .tracking)
        default: break
        }
        if round % 2 == index % 2 { timer.invalidate() } else if round % 3 != 0 { timer.fireDate = .distantPast }
      }
    }
    #expect(scheduled.count == 4 * rounds)
    #expect(eventually { loop.core.withLock { loop.core.state.pointee.timers.count } == 0 })
    #expect(fired.count <= scheduled.count)
    #expect(fired.count > 0)
  }

  @Test func timersOfOtherThreadsAreThereForWhoeverLooks() throws {
    let thread = RunLoopThread(name: "awake")
    defer { thread.stop() }
    let loop = thread.loop
    let (isAwake, mayGoOn) = (Completion(), Completion())
    loop.perform {
      isAwake.finish()
      _ = mayGoOn.wait()
    }
    #expect(isAwake.wait())
    // More than the loop takes without its lock.
    let count = 3 * Inbox.capacity
    let fired = Log()
    let timers = try (0..<count).map { index in try loop.schedule(after: .seconds(0)) { _ in fired.add(index) } }
    #expect(loop.contains(timers[count - 1], forMode: .default))
    #expect(loop.inspection().timers.count == count)
    timers[1].invalidate()
    timers[2].fireDate = .distantFuture
    loop.remove(timers[3], forMode: .default)
    mayGoOn.finish()
    #expect(eventually { fired.entries.count == count - 3 })
    #expect(fired.entries == [0] + Array(4..<count))
    #expect(loop.inspection().timers.count == 1)
    timers[2].invalidate()
  }

  @Test func oneThreadSchedulesWhatAnotherFires() throws {
    let thread = RunLoopThread(name: "busy")
    let fired = Log()
    for index in 0..<20_000 { try thread.loop.schedule(after: .seconds(0)) { _ in fired.add(index) } }
    #expect(eventually { fired.entries.count == 20_000 })
    #expect(fired.entries == Array(0..<20_000))
    thread.stop()
    #expect(eventually { thread.loop.isFinished })
    #expect(throws: RunLoopError.loopFinished(loop: "busy")) { try thread.loop.schedule(after: .seconds(0)) { _ in } }
  }

  @Test func invalidatingARepeatingTimerWhileItFires() throws {
    let thread = RunLoopThread(name: "firing")
    defer { thread.stop() }
    let deaths = Counter()
    let count = 200
    for _ in 0..<count {
      let target = Witness { deaths.up() }
      let timer = try TrackedTimer(timeInterval: 0, target: target, repeats: true) { target, _ in target.tick() }
      try thread.loop.add(timer, forMode: .default)
      while timer.firings == 0 { pause(milliseconds: 0) }
      timer.invalidate()
    }
    #expect(eventually { deaths.count == count })
  }

  @Test func aTimerIsAddedAndRemovedByManyThreads() throws {
    let thread = RunLoopThread(name: "a")
    let other = RunLoopThread(name: "b")
    defer {
      thread.stop()
      other.stop()
    }
    let deaths = Counter()
    do {
      let target = Witness { deaths.up() }
      let timer = try TrackedTimer(timeInterval: 0.0001, target: target, repeats: true) { target, _ in target.tick() }
      concurrently(4) { index in
        let loop = index % 2 == 0 ? thread.loop : other.loop
        for round in 0..<rounds {
          if round % 2 == 0 {
            _ = try? loop.add(timer, forMode: .default)
          } else {
            loop.remove(timer, forMode: .default)
          }
        }
      }
      timer.invalidate()
    }
    #expect(eventually { deaths.count == 1 })
  }

  @Test func aLoopThatEndsWhileOthersUseIt() {
    for _ in 0..<50 {
      let thread = RunLoopThread(name: "short")
      let loop = thread.loop
      let deaths = Counter()
      let made = Counter()
      concurrently(3) { index in
        if index == 0 { return thread.stop() }
        for _ in 0..<100 {
          let witness = Witness { deaths.up() }
          made.up()
          let timer = try? TrackedTimer(timeInterval: 0.0001, target: witness, repeats: true) { target, _ in
            target.tick()
          }
          guard let timer else { continue }
          _ = try? loop.add(timer, forMode: .default)
          loop.perform { _ = witness }
          timer.invalidate()
        }
      }
      #expect(eventually { deaths.count == made.count })
    }
  }

  @Test func stoppingFromAnotherThread() throws {
    let thread = RunLoopThread(name: "stopped")
    defer { thread.stop() }
    for _ in 0..<100 {
      let started = Completion()
      let ended = Completion()
      thread.loop.perform {
        started.finish()
        while thread.loop.run(for: .seconds(100)) != .stopped {}
        ended.finish()
      }
      _ = started.wait()
      thread.loop.stop()
      // The first stop may have come before the nested run began.
      while !eventuallyEnded(ended) { thread.loop.stop() }
    }
  }

  private func eventuallyEnded(_ completion: Completion) -> Bool {
    for _ in 0..<20 {
      if completion.isFinished { return true }
      pause(milliseconds: 1)
    }
    return false
  }
}
