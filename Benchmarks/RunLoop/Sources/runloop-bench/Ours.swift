import Dispatch
import Synchronization
import UndeadRunLoop

/// The run loop of this project, with a timer that calls a method of a target that it holds strongly.
struct OursWithTargets: Peer {
  let name = "... with targets"

  private final class Target: Sendable {
    let fired = Fired()
    func tick() { fired.count &+= 1 }
  }

  func scheduleAndCancel(_ count: Int) -> Int64 {
    let loop = TrackedRunLoop.current
    let target = Target()
    var timers: [TrackedTimer] = []
    timers.reserveCapacity(count)
    let begin = now()
    for index in 0..<count {
      let timer = try? TrackedTimer(after: far(index), target: target) { target, _ in
        target.tick()
      }
      guard let timer else { continue }
      _ = try? loop.add(timer, forMode: .default)
      timers.append(timer)
    }
    for timer in timers { timer.invalidate() }
    return now() - begin
  }

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? { nil }

  func scheduleAndFireAfterFarTimer(_ count: Int) -> Int64? { afterFarTimer { scheduleAndFire(count) } }

  func scheduleAndFire(delays: [Int64]) -> Int64? {
    let loop = TrackedRunLoop.current
    let target = Target()
    var begin = now()
    for delay in delays {
      let timer = try? TrackedTimer(after: .nanoseconds(delay), target: target) { target, _ in target.tick() }
      if let timer { _ = try? loop.add(timer, forMode: .default) }
    }
    let scheduling = now() - begin
    while now() < begin + (delays.max() ?? 0) {}
    begin = now()
    while target.fired.count < delays.count { loop.run(for: .zero) }
    return scheduling + now() - begin
  }

  func scheduleAndFire(_ count: Int) -> Int64 {
    let loop = TrackedRunLoop.current
    let target = Target()
    let begin = now()
    for _ in 0..<count {
      if let timer = try? TrackedTimer(after: .zero, target: target, action: { target, _ in target.tick() }) {
        _ = try? loop.add(timer, forMode: .default)
      }
    }
    while target.fired.count < count { loop.run(for: .zero) }
    return now() - begin
  }

  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int? { nil }
}

/// The run loop of this project.
struct Ours: Peer {
  let name = "UndeadRunLoop"

  func scheduleAndCancel(_ count: Int) -> Int64 { Self.scheduleAndCancel(count, on: .current) }

  func scheduleAndCancel(delays: [Int64], order: [Int]) -> Int64? {
    let loop = TrackedRunLoop.current
    var timers: [TrackedTimer] = []
    timers.reserveCapacity(delays.count)
    let begin = now()
    for delay in delays {
      if let timer = try? loop.schedule(after: .nanoseconds(delay), { _ in }) { timers.append(timer) }
    }
    for index in order { timers[index].invalidate() }
    return now() - begin
  }

  func scheduleAndFireAfterFarTimer(_ count: Int) -> Int64? { afterFarTimer { scheduleAndFire(count) } }

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? {
    let thread = RunLoopThread(name: "bench")
    let spent = Atomic<Int64>(0)
    withExtendedLifetime(thread) {
      let elapsed = Self.scheduleAndCancel(count, on: thread.loop)
      spent.store(elapsed, ordering: .relaxed)
    }
    return spent.load(ordering: .relaxed)
  }

  static func scheduleAndCancel(_ count: Int, on loop: TrackedRunLoop) -> Int64 {
    var timers: [TrackedTimer] = []
    timers.reserveCapacity(count)
    let begin = now()
    for index in 0..<count {
      if let timer = try? loop.schedule(after: far(index), { _ in }) { timers.append(timer) }
    }
    for timer in timers { timer.invalidate() }
    return now() - begin
  }

  func scheduleAndFire(_ count: Int) -> Int64 {
    let loop = TrackedRunLoop.current
    let fired = Fired()
    let begin = now()
    for _ in 0..<count { _ = try? loop.schedule(after: .zero) { _ in fired.count &+= 1 } }
    while fired.count < count { loop.run(for: .zero) }
    return now() - begin
  }

  /// Counts fires on a loop's thread; global, so that blocks need not share the count of references to it.
  private enum Tally {
    nonisolated(unsafe) static var fired = 0
  }

  func scheduleAndFireFromAnotherThread(_ count: Int) -> Int64? {
    let thread = RunLoopThread(name: "bench")
    let done = DispatchSemaphore(value: 0)
    // Counted on the loop's thread only, which does not run any of the timers yet.
    Tally.fired = 0
    let begin = now()
    for _ in 1..<count { _ = try? thread.loop.schedule(after: .zero) { _ in Tally.fired &+= 1 } }
    _ = try? thread.loop.schedule(after: .zero) { _ in done.signal() }
    done.wait()
    let spent = now() - begin
    precondition(Tally.fired == count - 1)
    return spent
  }

  func scheduleAndFire(delays: [Int64]) -> Int64? {
    let loop = TrackedRunLoop.current
    let fired = Fired()
    var begin = now()
    for delay in delays { _ = try? loop.schedule(after: .nanoseconds(delay)) { _ in fired.count &+= 1 } }
    let scheduling = now() - begin
    while now() < begin + (delays.max() ?? 0) {}
    begin = now()
    while fired.count < delays.count { loop.run(for: .zero) }
    return scheduling + now() - begin
  }

  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int? {
    let loop = TrackedRunLoop.current
    let begin = now()
    var timers: [TrackedTimer] = []
    for index in 0..<count {
      let phase = interval + Int64(index) * interval / Int64(count)
      let timer = try? TrackedTimer(after: .nanoseconds(interval), repeats: true) { _ in
        log.note(start: begin + phase, interval: interval)
      }
      guard let timer else { continue }
      _ = try? loop.add(timer, forMode: .default)
      timer.timeUntilFire = .nanoseconds(begin + phase - now())
      timers.append(timer)
    }
    loop.run(for: .seconds(seconds))
    for timer in timers { timer.invalidate() }
    return timers.reduce(0) { $0 + $1.missedFirings }
  }
}

/// What `body` returns while a timer waits that is due much later than all others.
private func afterFarTimer(_ body: () -> Int64) -> Int64? {
  let far = try? TrackedRunLoop.current.schedule(after: .seconds(100_000)) { _ in }
  defer { far?.invalidate() }
  return body()
}

/// An interval that does not pass while a benchmark runs, and another one for each index.
func far(_ index: Int) -> Duration { .nanoseconds(1_000_000_000_000 + index * 1000) }

/// Counts on one thread.
final class Fired: @unchecked Sendable { var count = 0 }
