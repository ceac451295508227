import Foundation
import Glibc
import UndeadRunLoop

// Prints what the run loop costs beside its peers, each figure also as a ratio to ours in the same run.
//
//   runloop-bench [--count N] [--seconds S] [--rounds N] [--section throughput|latency|memory|idle]
//                 [--column NAME]   only one of the throughput, as "schedule+fire +t"

private func argument(_ name: String, _ standard: Int) -> Int {
  let arguments = CommandLine.arguments
  guard let at = arguments.firstIndex(of: name), at + 1 < arguments.count else { return standard }
  return Int(arguments[at + 1]) ?? standard
}

private func isWanted(_ name: String, by option: String = "--section") -> Bool {
  guard let at = CommandLine.arguments.firstIndex(of: option), at + 1 < CommandLine.arguments.count else { return true }
  return CommandLine.arguments[at + 1] == name
}

private let count = argument("--count", 100_000)
private let seconds = argument("--seconds", 5)
private let rounds = argument("--rounds", 5)
private let ours = Ours()
private let peers: [any Peer] = [ours, FoundationPeer(), DispatchPeer(), NIOPeer()]

/// The best of several rounds, as operations per second.
private func best(_ rounds: Int, _ body: () -> Int64?) -> Double? {
  (0..<rounds).compactMap { _ in body().map { perSecond(count, $0) } }.max()
}

private func column(_ text: String) -> String { String(repeating: " ", count: max(0, 22 - text.count)) + text }

/// Dates in random order, the same in every run: nanoseconds within a tenth of a second.
private let randomDelays: [Int64] = {
  var state: UInt64 = 0x9E37_79B9_7F4A_7C15
  return (0..<count).map { _ in
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int64(state % 100_000_000)
  }
}()

/// The indices of all timers in random order, the same in every run.
private let randomOrder: [Int] = randomDelays.indices.sorted { (randomDelays[$0], $0) < (randomDelays[$1], $1) }
/// Dates in random order that do not come during a round.
private let farDelays = randomDelays.shuffledLikeEveryRun().map { $0 * 10_000 + 1_000_000_000_000 }

extension Array {
  /// The second half, then the first, each backwards: an order of its own, and the same in every run.
  fileprivate func shuffledLikeEveryRun() -> [Element] {
    self[(count / 2)...].reversed() + self[..<(count / 2)].reversed()
  }
}

private func throughput() {
  print("\(count) timers, best of \(rounds) rounds (and how many times faster ours is); +t: from another thread")
  print("random cancel: random dates, cancelled in random order; far first: one timer waits that is due much later")
  let columns = [
    "schedule+cancel", "schedule+cancel +t", "random cancel", "schedule+fire", "schedule+fire +t", "far first",
    "random dates",
  ]
  print("\(column("")) \(columns.map(column).joined(separator: " "))")
  var reference: [Double?] = []
  let peers: [any Peer] = [ours, OursWithTargets()] + peers.dropFirst()
  for peer in peers {
    // Foundation needs seconds for a round.
    let rounds = peer.name == "Foundation" ? 1 : rounds
    let measured: [() -> Int64?] = [
      { peer.scheduleAndCancel(count) },
      { peer.scheduleAndCancelFromAnotherThread(count) },
      { peer.scheduleAndCancel(delays: farDelays, order: randomOrder) },
      { peer.scheduleAndFire(count) },
      { peer.scheduleAndFireFromAnotherThread(count) },
      { peer.scheduleAndFireAfterFarTimer(count) },
      { peer.scheduleAndFire(delays: randomDelays) },
    ]
    let rates = zip(columns, measured).map { column, body in
      isWanted(column, by: "--column") ? best(rounds, body) : nil
    }
    if reference.isEmpty { reference = rates }
    let cells = zip(rates, reference).map { rate, reference in
      guard let rate, let reference else { return column("-") }
      return column("\(millions(rate)) (x\((reference / rate * 10).rounded() / 10))")
    }
    print("\(column(peer.name)) \(cells.joined(separator: " "))")
  }
}

/// How late a bare sleep on a grid is: what the machine allows at this moment.
private func bareSleep(interval: Int64, seconds: Int) -> Samples {
  let log = LatenessLog(capacity: seconds * Int(1_000_000_000 / interval) + 1)
  let begin = now()
  var due = begin + interval
  while due - begin < Int64(seconds) * 1_000_000_000 {
    var when = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
    clock_nanosleep(CLOCK_MONOTONIC, Int32(TIMER_ABSTIME), &when, nil)
    log.note(start: begin, interval: interval)
    due = begin + ((now() - begin) / interval + 1) * interval
  }
  return Samples(log.samples)
}

private func latency(timers: Int, interval: Int64) {
  // The phases are spread over one interval: only the first timer has its last point within the time.
  let expected = timers * (seconds * Int(1_000_000_000 / interval) - 1) + 1
  print("\(timers) repeating timer(s) of \(interval / 1_000_000) ms for \(seconds) s, lateness in microseconds")
  let control = bareSleep(interval: interval, seconds: seconds)
  print("\(column("bare sleep")) p50 \(control.microseconds(0.5)), p99 \(control.microseconds(0.99))")
  for peer in peers {
    let log = LatenessLog(capacity: expected * 2)
    let (cpu, begin, switches) = (cpuSeconds(), now(), contextSwitches())
    let missed = peer.repeating(timers, interval: interval, seconds: seconds, log: log)
    let spent = Double(now() - begin) / 1e9
    let samples = Samples(log.samples)
    let percent = ((cpuSeconds() - cpu) / spent * 1000).rounded() / 10
    print(
      "\(column(peer.name)) fires \(samples.count) of \(expected), missed \(missed.map(String.init) ?? "?"), "
        + "p50 \(samples.microseconds(0.5)), "
        + "p99 \(samples.microseconds(0.99)), CPU \(percent) %, context switches/s "
        + "\(Int(Double(contextSwitches() - switches) / spent))")
  }
}

private func tolerance() {
  print("1000 repeating timers of 10 ms with tolerance")
  for milliseconds in [0, 1, 5] {
    let loop = TrackedRunLoop()
    let timers = (0..<1000).compactMap { index -> TrackedTimer? in
      guard let timer = try? TrackedTimer(after: .milliseconds(10), repeats: true, block: { _ in }) else { return nil }
      timer.tolerance = .milliseconds(milliseconds)
      _ = try? loop.add(timer, forMode: .default)
      timer.timeUntilFire = .microseconds(10_000 + index * 10)
      return timer
    }
    let (cpu, before) = (cpuSeconds(), wakeUps(of: loop))
    loop.run(for: .seconds(2))
    let percent = ((cpuSeconds() - cpu) / 2 * 1000).rounded() / 10
    print("\(column("\(milliseconds) ms")) \((wakeUps(of: loop) - before) / 2) wake-ups/s, CPU \(percent) %")
    for timer in timers { timer.invalidate() }
  }
}

private func idle() {
  let loop = TrackedRunLoop()
  _ = try? loop.schedule(after: .seconds(1000)) { _ in }
  let (switches, cpu) = (contextSwitches(), cpuSeconds())
  let before = wakeUps(of: loop)
  loop.run(for: .seconds(3))
  let early = wakeUps(of: loop) - before - 1
  let microseconds = Int((cpuSeconds() - cpu) * 1e6)
  print(
    "idle for 3 s: \(early) wake-ups before the end, \(contextSwitches() - switches) context switches, "
      + "\(microseconds) us of CPU time")
}

/// How often a loop has slept.
private func wakeUps(of loop: TrackedRunLoop) -> Int {
  struct Inspection: Decodable {
    struct Loop: Decodable {
      let name: String
      let wakeUps: Int
    }
    let loops: [Loop]
  }
  let json = try? JSONEncoder().encode(TrackedRunLoop.inspect())
  let seen = json.flatMap { try? JSONDecoder().decode(Inspection.self, from: $0) }
  return seen?.loops.first { $0.name == loop.name }?.wakeUps ?? 0
}

/// Resident bytes of each of a million live timers.
private func memory() {
  bytes("a block that captures nothing") { loop, index in try? loop.schedule(after: far(index)) { _ in } }
  bytes("a block with a context of 32 bytes") { loop, index in
    try? loop.schedule(after: far(index)) { _ in precondition(index >= 0) }
  }
  bytes("random dates") { loop, index in try? loop.schedule(after: far(randomOrder[index % count])) { _ in } }
  bytes("that repeat") { loop, index in try? loop.schedule(every: far(index)) { _ in } }
  let target = Fired()
  bytes("with a target") { loop, index in
    let timer = try? TrackedTimer(after: far(index), target: target) { target, _ in target.count &+= 1 }
    if let timer { _ = try? loop.add(timer, forMode: .default) }
    return timer
  }
}

/// Each kind has a loop of its own that stays: the tables of an earlier one would be used again.
nonisolated(unsafe) private var loopsOfMemory: [TrackedRunLoop] = []

private func bytes(_ what: String, _ make: (TrackedRunLoop, Int) -> TrackedTimer?) {
  let loop = TrackedRunLoop()
  loopsOfMemory.append(loop)
  let million = 1_000_000
  var timers: [TrackedTimer] = []
  timers.reserveCapacity(million)
  giveBackFreeMemory()
  let before = residentBytes()
  for index in 0..<million { if let timer = make(loop, index) { timers.append(timer) } }
  let each = (residentBytes() - before) / million
  print("1 M live timers, \(what): \(each) bytes each, 8 of them for the handle that was kept")
  for timer in timers { timer.invalidate() }
}

startIdleThread()
if isWanted("throughput") { throughput() }
if isWanted("memory") { memory() }
if isWanted("latency") {
  latency(timers: 1, interval: 1_000_000)
  latency(timers: 1000, interval: 10_000_000)
  tolerance()
}
if isWanted("idle") { idle() }
