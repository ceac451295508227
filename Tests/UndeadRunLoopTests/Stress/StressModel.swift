import UndeadRunLoop

/// What a loop must do, written down as simply as it can be: no queues, no sets, no threads; time moves when it sleeps.
final class StressModel: StressWorld {
  private struct Timer {
    var due: Int
    let period: Int
    let repeats: Bool
    var tolerance: Int
    var modes: Set<String>
    /// The order among timers that are due at the same instant.
    var number: Int
    var isValid = true
    var isFiring = false
    /// Its date was set in its callback.
    var isDated = false
    /// It left the loop in its callback, and is the loop's until that returns.
    var isLeaving = false
    var firings = 0
  }
  private struct Source {
    let order: Int
    var modes: Set<String> = []
    /// The order in which it came into the loop.
    var number = 0
    var isValid = true
    var isSignalled = false
  }

  weak var script: StressScript?
  private(set) var now = 0
  private var timers: [Timer] = []
  private var sources: [Source] = []
  private var work: [(number: Int, block: Int, modes: [String], asSource: Bool)] = []
  private var commonModes: Set<String> = ["default", "tracking"]
  private var lastNumber = 0
  private var stops: [Bool] = []
  /// The passes that are firing timers, one inside of the other: up to which date, and with which numbers.
  private var passes: [(mode: String, instant: Int, limit: Int)] = []

  private func nextNumber() -> Int {
    lastNumber += 1
    return lastNumber
  }

  private func expand(_ mode: String) -> Set<String> { mode == "common" ? commonModes.union([mode]) : [mode] }

  // MARK: - Timers

  func schedule(_ timer: Int, after: Int, repeats: Bool, tolerance: Int, _ mode: String) {
    timers.append(
      Timer(
        due: now + after, period: after, repeats: repeats, tolerance: 0, modes: expand(mode), number: nextNumber()))
    if tolerance > 0 { setTolerance(timer, tolerance) }
  }

  func invalidate(_ timer: Int) {
    timers[timer].isValid = false
    leave(timer)
  }

  private func leave(_ timer: Int) {
    if timers[timer].isFiring, !timers[timer].modes.isEmpty { timers[timer].isLeaving = true }
    timers[timer].modes = []
  }

  func setDate(_ timer: Int, _ date: Int) {
    guard timers[timer].isValid else { return }
    timers[timer].due = date
    if timers[timer].isFiring {
      timers[timer].isDated = !timers[timer].modes.isEmpty || timers[timer].isLeaving
    } else {
      timers[timer].number = nextNumber()
    }
  }

  func setTolerance(_ timer: Int, _ tolerance: Int) {
    timers[timer].tolerance = timers[timer].repeats ? min(tolerance, timers[timer].period / 2) : tolerance
    if !timers[timer].isFiring { timers[timer].number = nextNumber() }
  }

  func add(_ timer: Int, _ mode: String) -> String {
    guard timers[timer].isValid else { return "refused" }
    let wanted = timers[timer].modes.union(expand(mode))
    if wanted == timers[timer].modes { return "there already" }
    timers[timer].modes = wanted
    timers[timer].isLeaving = false
    if !timers[timer].isFiring { timers[timer].number = nextNumber() }
    return "added"
  }

  func remove(_ timer: Int, _ mode: String) {
    let left = timers[timer].modes.subtracting(expand(mode))
    if left == timers[timer].modes { return }
    if left.isEmpty { return leave(timer) }
    timers[timer].modes = left
    if !timers[timer].isFiring { timers[timer].number = nextNumber() }
  }

  func fire(_ timer: Int) {
    guard timers[timer].isValid, !timers[timer].isFiring else { return }
    call(timer, advances: false)
  }

  func describe(_ timer: Int, _ mode: String) -> String {
    let timer = timers[timer]
    return "\(timer.isValid ? "due \(timer.due)" : "over") fired \(timer.firings) in \(timer.modes.contains(mode))"
  }

  private func call(_ timer: Int, advances: Bool) {
    timers[timer].isFiring = true
    timers[timer].firings += 1
    script?.called("timer \(timer)")
    timers[timer].isFiring = false
    timers[timer].isLeaving = false
    let isDated = timers[timer].isDated
    timers[timer].isDated = false
    guard timers[timer].isValid, timers[timer].repeats else {
      timers[timer].isValid = false
      timers[timer].modes = []
      return
    }
    if advances, !isDated {
      repeat { timers[timer].due += timers[timer].period } while timers[timer].due <= now
    }
    timers[timer].number = nextNumber()
  }

  private func fireDue(_ mode: String) {
    let (instant, limit) = (now, lastNumber)
    passes.append((mode, instant, limit))
    defer { passes.removeLast() }
    while true {
      let due = timers.indices.filter {
        timers[$0].modes.contains(mode) && !timers[$0].isFiring && timers[$0].due <= instant
          && timers[$0].number <= limit
      }
      guard let next = due.min(by: { (timers[$0].due, timers[$0].number) < (timers[$1].due, timers[$1].number) })
      else { return }
      call(next, advances: true)
    }
  }

  /// When the loop wakes for a timer. It waits for nothing more when the pass that will fire it has begun.
  private func latest(_ timer: Timer) -> Int {
    let isReady = passes.contains {
      timer.modes.contains($0.mode) && timer.due <= $0.instant && timer.number <= $0.limit
    }
    return isReady ? timer.due : timer.due + timer.tolerance
  }

  // MARK: - Work and sources

  func perform(_ block: Int, _ modes: [String], asSource: Bool) {
    work.append((nextNumber(), block, modes, asSource))
  }

  private func runs(_ modes: [String], in mode: String) -> Bool {
    modes.contains(mode) || modes.contains("common") && commonModes.contains(mode)
  }

  private func performWork(_ mode: String) -> Bool {
    let limit = lastNumber
    var handled = false
    while let next = work.firstIndex(where: { $0.number <= limit && runs($0.modes, in: mode) }) {
      let item = work.remove(at: next)
      if item.asSource { handled = true }
      script?.called("block \(item.block)")
    }
    return handled
  }

  func addSource(_ source: Int, order: Int, _ mode: String) -> String {
    if source == sources.count { sources.append(Source(order: order)) }
    guard sources[source].isValid else { return "refused" }
    if sources[source].modes.isEmpty { sources[source].number = nextNumber() }
    let wanted = sources[source].modes.union(expand(mode))
    defer { sources[source].modes = wanted }
    return wanted == sources[source].modes ? "there already" : "added"
  }

  func removeSource(_ source: Int, _ mode: String) { sources[source].modes.subtract(expand(mode)) }

  func signal(_ source: Int) { sources[source].isSignalled = true }

  func invalidateSource(_ source: Int) {
    sources[source].isValid = false
    sources[source].modes = []
  }

  private func isSignalled(_ source: Int, in mode: String) -> Bool {
    sources[source].isSignalled && sources[source].modes.contains(mode)
  }

  private func performSignalled(_ mode: String) -> Bool {
    var handled = false
    let signalled = sources.indices.filter { isSignalled($0, in: mode) }
      .sorted { (sources[$0].order, sources[$0].number) < (sources[$1].order, sources[$1].number) }
      .map { ($0, sources[$0].number) }
    for (source, number) in signalled where isSignalled(source, in: mode) && sources[source].number == number {
      sources[source].isSignalled = false
      handled = true
      script?.called("source \(source)")
    }
    return handled
  }

  // MARK: - Running

  func addCommonMode(_ mode: String) {
    commonModes.insert(mode)
    for timer in timers.indices where timers[timer].modes.contains("common") { timers[timer].modes.insert(mode) }
    for source in sources.indices where sources[source].modes.contains("common") { sources[source].modes.insert(mode) }
  }

  func stop() { if !stops.isEmpty { stops[stops.count - 1] = true } }

  func advance(_ duration: Int) { now += duration }

  private func isEmpty(_ mode: String) -> Bool {
    !timers.contains { $0.modes.contains(mode) } && !sources.contains { $0.modes.contains(mode) }
      && !work.contains { runs($0.modes, in: mode) }
  }

  func run(_ mode: String, for duration: Int, returnAfterSource: Bool) -> String {
    let end = now + duration
    if isEmpty(mode) { return "finished" }
    stops.append(false)
    defer { stops.removeLast() }
    while true {
      if pass(mode, end), returnAfterSource { return "handledSource" }
      if stops[stops.count - 1] { return "stopped" }
      if now >= end { return "timedOut" }
      if isEmpty(mode) { return "finished" }
    }
  }

  private func pass(_ mode: String, _ end: Int) -> Bool {
    var handled = performWork(mode)
    if performSignalled(mode) {
      handled = true
      _ = performWork(mode)
    }
    if !handled, now < end, !stops[stops.count - 1], !sources.indices.contains(where: { isSignalled($0, in: mode) }),
      !work.contains(where: { runs($0.modes, in: mode) })
    {
      let next = timers.filter { $0.modes.contains(mode) && !$0.isFiring }.map(latest).min() ?? end
      now = max(now, min(next, end))
    }
    fireDue(mode)
    return performWork(mode) || handled
  }
}
