import FoundationEssentials
import Glibc
import UndeadRunLoop
import UndeadTestSupport

/// One of the threads that do random things: what it wants to do depends on the seed alone, what becomes of it on the others.
final class StressWorker {
  private let stress: StressedThreads
  private let worker: Int
  private var numbers: SeededGenerator

  private static let modes: [TrackedRunLoop.Mode] = [.default, .common, .tracking, .init("stress")]

  init(_ stress: StressedThreads, _ worker: Int) {
    self.stress = stress
    self.worker = worker
    numbers = SeededGenerator(seed: stress.seed &* 31 &+ UInt64(worker))
  }

  func work() {
    for step in 0..<StressedThreads.operations {
      act()
      if worker == 0, step == StressedThreads.operations / 2 { stress.endEarly() }
    }
    say("over")
  }

  private func random(_ range: ClosedRange<Int>) -> Int { Int.random(in: range, using: &numbers) }
  private func say(_ what: String) { stress.doing.withLock { $0[worker] = what } }
  private func mode() -> TrackedRunLoop.Mode { Self.modes[random(0...Self.modes.count - 1)] }

  private func act() {
    let index = random(0...stress.loops.count - 1)
    let loop = stress.loops[index]
    let choice = random(0...27)
    say("action \(choice) on \(loop)")
    switch choice {
    case 0...4: schedule(index, loop)
    case 5...7: withTimer { invalidate($0) }
    case 8: withTimer { setDate($0) }
    case 9: withTimer { $0.timer.tolerance = .microseconds(random(0...2000)) }
    case 10: withTimer { if let loop = $0.loop { _ = try? stress.loops[loop].add($0.timer, forMode: mode()) } }
    case 11: withTimer { if let loop = $0.loop { stress.loops[loop].remove($0.timer, forMode: mode()) } }
    case 12: withTimer { if $0.loop == nil { move($0, to: loop) } }
    case 13: withTimer { fire($0) }
    case 14...16: perform(index, loop)
    case 17...18: performAndWait(index, loop)
    case 19: runNested(index, loop)
    case 20: if random(0...1) == 0 { loop.stop() } else { loop.wakeUp() }
    case 21: touchSource(loop)
    case 22: performLater(index, loop)
    case 23...25: stress.hop(index)
    case 26: observe(loop)
    default: look(loop)
    }
  }

  private func withTimer(_ body: (StressedTimer) -> Void) {
    let pick = random(0...Int(Int32.max))
    if let timer = stress.timers.withLock({ $0.isEmpty ? nil : $0[pick % $0.count] }) { body(timer) }
  }

  private func schedule(_ index: Int, _ loop: TrackedRunLoop) {
    let repeats = random(0...2) == 0
    let microseconds = random(repeats ? 100...3000 : 0...3000)
    let facts = StressedTimer.Facts(stress, after: Int64(microseconds) * 1000, repeats: repeats)
    let object = StressedObject(stress)
    let mode = mode()
    let mayMove = random(0...3) == 0
    let interval = Duration.microseconds(microseconds)
    let callback: @Sendable (TrackedTimer) -> Void = { _ in
      object.touch()
      facts.fired()
    }
    do {
      let timer =
        repeats
        ? try loop.schedule(every: interval, mode: mode, callback)
        : try loop.schedule(after: interval, mode: mode, callback)
      stress.timers.withLock { $0.append(StressedTimer(timer, facts, mayMove ? nil : index)) }
    } catch {
      if !stress.mayEnd(index) { stress.complain("\(loop) took no timer: \(error)") }
    }
  }

  private func setDate(_ timer: StressedTimer) {
    // Dates are of the wall clock, which may be corrected meanwhile.
    let (ahead, slack) = (Int64(random(-1000...3000)) * 1000, Int64(5_000_000))
    timer.facts.allowed.add(1, ordering: .sequentiallyConsistent)
    timer.facts.earliest.min(monotonic() + ahead - slack, ordering: .sequentiallyConsistent)
    timer.timer.fireDate = Date().addingTimeInterval(Double(ahead) / 1e9)
  }

  private func fire(_ timer: StressedTimer) {
    timer.facts.isFiredByHand.store(true, ordering: .sequentiallyConsistent)
    timer.facts.allowed.add(1, ordering: .sequentiallyConsistent)
    timer.timer.fire()
  }

  private func move(_ timer: StressedTimer, to loop: TrackedRunLoop) {
    for other in stress.loops { for mode in Self.modes { other.remove(timer.timer, forMode: mode) } }
    _ = try? loop.add(timer.timer, forMode: mode())
  }

  private func invalidate(_ timer: StressedTimer) {
    guard let index = timer.loop else { return timer.timer.invalidate() }
    let facts = timer.facts
    if random(0...1) == 0 {
      // On the loop's thread nothing comes between the end and what follows it.
      stress.loops[index].perform(inModes: [.common]) { [handle = timer.timer] in
        handle.invalidate()
        facts.noteEnd()
      }
    } else {
      timer.timer.invalidate()
      // A callback that was under way is over when the loop has done something else.
      try? stress.loops[index].perform(waitUntilDone: true) {}
      facts.noteEnd()
    }
  }

  private func perform(_ index: Int, _ loop: TrackedRunLoop) {
    let (block, object) = (StressedBlock(index), StressedObject(stress))
    let modes: [TrackedRunLoop.Mode] = random(0...1) == 0 ? [.default] : [.common, .init("stress")]
    let isTaken = loop.perform(inModes: modes) { [stress] in
      object.touch()
      block.runs.add(1, ordering: .sequentiallyConsistent)
      if !stress.loops[index].isCurrentThread { stress.complain("a block ran on another thread") }
    }
    if isTaken {
      stress.blocks.withLock { $0.append(block) }
    } else if !stress.mayEnd(index) {
      stress.complain("\(loop) took no block")
    }
  }

  private func performAndWait(_ index: Int, _ loop: TrackedRunLoop) {
    let object = StressedObject(stress)
    do throws(RunLoopError) {
      try loop.perform(waitUntilDone: true) { object.touch() }
    } catch {
      if !stress.mayEnd(index) { stress.complain("\(loop) did not perform: \(error)") }
    }
  }

  private func runNested(_ index: Int, _ loop: TrackedRunLoop) {
    let mode: TrackedRunLoop.Mode = random(0...1) == 0 ? .tracking : .init("stress")
    let duration = Duration.microseconds(random(0...2000))
    loop.perform { [stress] in stress.loops[index].run(mode: mode, for: duration) }
  }

  private func performLater(_ index: Int, _ loop: TrackedRunLoop) {
    let object = StressedObject(stress)
    do throws(RunLoopError) {
      try loop.perform(after: .microseconds(random(0...2000)), on: object) { $0.touch() }
    } catch {
      if !stress.mayEnd(index) { stress.complain("\(loop) took no delayed block: \(error)") }
    }
    if random(0...1) == 0 { loop.cancelPerforms(target: object) }
  }

  private func touchSource(_ loop: TrackedRunLoop) {
    let source = stress.sources[random(0...stress.sources.count - 1)]
    switch random(0...4) {
    case 0: _ = try? loop.add(source, forMode: mode())
    case 1: loop.remove(source, forMode: mode())
    default: source.signal()
    }
  }

  private func observe(_ loop: TrackedRunLoop) {
    let object = StressedObject(stress)
    let observer = TrackedRunLoopObserver(repeats: random(0...1) == 0) { _, _ in object.touch() }
    _ = try? loop.add(observer, forMode: mode())
    switch random(0...2) {
    case 0: observer.invalidate()
    case 1: loop.perform { observer.invalidate() }
    default: stress.observers.withLock { $0.append(observer) }
    }
  }

  private func look(_ loop: TrackedRunLoop) {
    withTimer { timer in
      _ = timer.timer.fireDate
      _ = timer.timer.firings
      _ = timer.timer.isValid
      _ = timer.timer.tolerance
    }
    if random(0...3) == 0 { loop.addCommonMode(.init("stress")) }
    _ = loop.currentMode
    _ = loop.inspection()
  }
}
