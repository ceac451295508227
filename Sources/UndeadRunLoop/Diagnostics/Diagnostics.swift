import CUndeadRunLoop
import Glibc
import Synchronization

/// The engine behind `RunLoopDiagnostics`. While it is off, the hot paths pay for one load.
enum Diagnostics {
  private struct Birth: Sendable {
    weak var timer: TrackedTimer?
    var createdAt: Int64
    var creation: [UInt]
    var scheduling: [UInt] = []
    var isReported = false
  }

  private struct State {
    var thresholds = RunLoopDiagnostics.Thresholds()
    var handler: RunLoopDiagnostics.Handler?
    var collected: [RunLoopDiagnostic] = []
    var dropped = 0
    var births: [ObjectIdentifier: Birth] = [:]
    var deadTargetReported: Set<ObjectIdentifier> = []
    var exitCheckInstalled = false
  }

  private static let keptAtMost = 1000
  private static let enabled = Atomic(false)
  private static let state = Locked(State())

  @inline(__always)
  static var isOn: Bool { enabled.load(ordering: .relaxed) }

  static var thresholds: RunLoopDiagnostics.Thresholds { state.withLock { $0.thresholds } }
  static var collected: [RunLoopDiagnostic] { state.withLock { $0.collected } }
  static var droppedCount: Int { state.withLock { $0.dropped } }

  static func enable(_ thresholds: RunLoopDiagnostics.Thresholds, _ handler: RunLoopDiagnostics.Handler?) {
    let mustInstall = state.withLock { state -> Bool in
      state.thresholds = thresholds
      state.handler = handler
      defer { state.exitCheckInstalled = true }
      return !state.exitCheckInstalled
    }
    if mustInstall { atexit { if Diagnostics.isOn { Diagnostics.check(atOnce: true) } } }
    enabled.store(true, ordering: .releasing)
    Watchdog.shared.start()
  }

  static func disable() {
    enabled.store(false, ordering: .releasing)
    Watchdog.shared.stop()
    let old = state.withLock { state -> State in
      let old = state
      state = State()
      state.exitCheckInstalled = old.exitCheckInstalled
      return old
    }
    withExtendedLifetime(old) {}
  }

  // MARK: Reporting

  static func report(
    _ kind: RunLoopDiagnostic.Kind, _ message: String, loop: TrackedRunLoop? = nil, timer: TrackedTimer? = nil,
    details: [String: String] = [:], backtraces: [RunLoopDiagnostic.Trace] = []
  ) {
    guard isOn else { return }
    var details = details
    if let loop { details["loop"] = loop.name }
    if let timer, !timer.name.isEmpty { details["timer"] = timer.name }
    let diagnostic = RunLoopDiagnostic(kind: kind, message: message, details: details, backtraces: backtraces)
    let handler = state.withLock { state -> RunLoopDiagnostics.Handler? in
      if state.collected.count == keptAtMost {
        state.collected.removeFirst()
        state.dropped += 1
      }
      state.collected.append(diagnostic)
      return state.handler
    }
    Registration.publish(diagnostic)
    handler?(diagnostic)
  }

  static func backtrace() -> [UInt] {
    let depth = 64
    return [UInt](unsafeUninitializedCapacity: depth) { buffer, count in
      count = Int(undead_loop_backtrace(buffer.baseAddress, Int32(depth)))
    }
  }

  static func typeName(of object: AnyObject) -> String {
    if let proxy = object as? any TargetNaming { return proxy.targetTypeName }
    return String(reflecting: type(of: object))
  }

  static func typeName(_ type: Any.Type) -> String { String(reflecting: type) }

  // MARK: Timers

  @inline(never)
  static func timerCreated(_ timer: TrackedTimer) {
    let birth = Birth(timer: timer, createdAt: undead_loop_monotonic(), creation: backtrace())
    state.withLock { $0.births[ObjectIdentifier(timer)] = birth }
  }

  /// Called by the timer's `deinit`: nobody else can see it any more.
  @inline(never)
  static func timerDestroyed(_ timer: TrackedTimer) {
    let birth = state.withLock { state in
      state.deadTargetReported.remove(ObjectIdentifier(timer))
      return state.births.removeValue(forKey: ObjectIdentifier(timer))
    }
    guard let birth, timer.fireCount == 0, !timer.flags.contains(.detached),
      timer.status.load(ordering: .acquiring) == TrackedTimer.Status.valid
    else {
      return
    }
    let name = timer.extras.load()?.name ?? ""
    let label = name.isEmpty ? "a timer" : "timer \"\(name)\""
    let reason = timer.flags.contains(.wasScheduled) ? "it was removed from its loop" : "it was never added to a loop"
    report(
      .timerDeallocatedUnfired, "\(label) was deallocated before it ever fired: \(reason)",
      details: name.isEmpty ? [:] : ["timer": name], backtraces: traces(birth))
  }

  static func timerScheduled(_ timer: TrackedTimer, on loop: TrackedRunLoop) {
    let trace = backtrace()
    state.withLock { $0.births[ObjectIdentifier(timer)]?.scheduling = trace }
  }

  static func firingForDeadTarget(_ timer: TrackedTimer, _ typeName: String) {
    guard isOn, let birth = firstReport(of: timer) else { return }
    report(
      .timerFiringForDeadTarget, "\(timer.reportName) keeps firing although its target, \(typeName), is gone",
      timer: timer, details: ["target": typeName], backtraces: traces(birth))
  }

  /// The call to a freed target was prevented.
  static func zombie(timer: TrackedTimer, target: TimerTarget) {
    let access = backtrace()
    let birth = state.withLock { $0.births[ObjectIdentifier(timer)] }
    let selector = target.selector.isEmpty ? "its action" : target.selector
    let message =
      "\(timer.reportName) would have called \(selector) of \(target.typeName), which was freed; it was invalidated"
    let found = traces(birth) + [.init(role: "access", addresses: access)]
    Registration.zombie(timer: timer, target: target, message: message, access: access)
    report(
      .timerTarget, message, timer: timer,
      details: ["target": target.typeName, "selector": target.selector, "address": hex(target.address)],
      backtraces: found)
  }

  static func invalidatedOffThread(_ timer: TrackedTimer, _ loop: TrackedRunLoop) {
    let birth = state.withLock { $0.births[ObjectIdentifier(timer)] }
    report(
      .invalidatedOffThread, "\(timer.reportName) of \(loop) was invalidated from another thread; it took effect",
      loop: loop, timer: timer, backtraces: traces(birth) + [.init(role: "invalidation", addresses: backtrace())])
  }

  static func willCall(_ timer: TrackedTimer, on loop: TrackedRunLoop, lateness: Int64) {
    let limit = Instants.nanoseconds(thresholds.lateFire)
    guard lateness > limit else { return }
    let slowest = loop.core.withLock { loop.core.state.pointee.statistics.slowest }
    var details = ["seconds": "\(Instants.seconds(lateness))"]
    var message = "\(timer.reportName) fired \(milliseconds(lateness)) late"
    if let slowest {
      message += ": \(slowest.description) ran for \(milliseconds(slowest.nanoseconds))"
      details["culprit"] = slowest.description
      details["culpritSeconds"] = "\(Instants.seconds(slowest.nanoseconds))"
    }
    report(.lateFire, message, loop: loop, timer: timer, details: details)
  }

  /// Runs a callback under the eyes of the watchdog.
  @inline(__always)
  static func watching(_ loop: TrackedRunLoop, _ name: @autoclosure () -> String, _ body: () -> Void) {
    if isOn { watched(loop, name(), body) } else { body() }
  }

  @inline(never)
  private static func watched(_ loop: TrackedRunLoop, _ name: String, _ body: () -> Void) {
    let begin = loop.clock.now
    let threadID = loop.core.withLock { loop.core.state.pointee.threadID }
    undead_loop_allow_backtrace()
    let outer = Watchdog.shared.begin(loop, name, thread: threadID)
    body()
    Watchdog.shared.end(loop, outer)
    let spent = Instants.subtract(loop.clock.now, begin)
    loop.core.withLock {
      let statistics = loop.core.state.pointee.statistics
      if spent > statistics.slowest?.nanoseconds ?? 0 { loop.core.state.pointee.statistics.slowest = (name, spent) }
      if spent > statistics.slowestOfLastPass?.nanoseconds ?? 0 {
        loop.core.state.pointee.statistics.slowestOfLastPass = (name, spent)
      }
    }
  }

  // MARK: Loops

  /// Before a pass over the timers: the culprits of late fires are from now on those of this pass or the one before.
  static func willFire(_ loop: TrackedRunLoop, mode: Int32, now: Int64) {
    Starvation.look(at: loop, mode: mode, now: now, limit: Instants.nanoseconds(thresholds.modeStarved))
    loop.core.withLock {
      let state = loop.core.state
      state.pointee.statistics.slowest = state.pointee.statistics.slowestOfLastPass
      state.pointee.statistics.slowestOfLastPass = nil
    }
  }

  static func loopEnded(_ loop: TrackedRunLoop, timers: [TrackedTimer]) {
    guard !timers.isEmpty else { return }
    let names = timers.prefix(8).map(\.reportName).joined(separator: ", ")
    report(
      .timersDetached, "\(loop) ended with \(timers.count) timer(s) that will never fire: \(names)", loop: loop,
      details: ["timers": "\(timers.count)"])
  }

  static func check(atOnce: Bool) {
    guard isOn else { return }
    let now = undead_loop_monotonic()
    let patience = atOnce ? 0 : Instants.nanoseconds(thresholds.neverScheduled)
    let forgotten = state.withLock { state -> [(TrackedTimer, Birth)] in
      state.births.compactMap { key, birth in
        guard let timer = birth.timer, !birth.isReported, now - birth.createdAt >= patience else { return nil }
        guard timer.isValid, !timer.withHome({ _ in timer.flags.contains(.wasScheduled) }) else { return nil }
        state.births[key]?.isReported = true
        return (timer, birth)
      }
    }
    for (timer, birth) in forgotten {
      report(
        .timerNeverScheduled, "\(timer.reportName) is valid but was never added to a loop: it cannot fire",
        timer: timer, backtraces: traces(birth))
    }
    for loop in LoopRegistry.shared.all { loop.checkOwner() }
  }

  // MARK: Helpers

  /// The birth of a timer the first time it is asked for, to report a fault that lasts only once.
  private static func firstReport(of timer: TrackedTimer) -> Birth?? {
    state.withLock { state in
      guard state.deadTargetReported.insert(ObjectIdentifier(timer)).inserted else { return Birth??.none }
      return .some(state.births[ObjectIdentifier(timer)])
    }
  }

  private static func traces(_ birth: Birth?) -> [RunLoopDiagnostic.Trace] {
    guard let birth else { return [] }
    let creation = RunLoopDiagnostic.Trace(role: "creation", addresses: birth.creation)
    return birth.scheduling.isEmpty ? [creation] : [creation, .init(role: "scheduling", addresses: birth.scheduling)]
  }

  static func milliseconds(_ nanoseconds: Int64) -> String {
    "\(nanoseconds / 100_000 / 10).\(nanoseconds / 100_000 % 10) ms"
  }

  static func hex(_ address: UInt) -> String { "0x" + String(address, radix: 16) }
}

/// A stand-in that reports call by the name of what it stands for.
protocol TargetNaming: AnyObject {
  var targetTypeName: String { get }
}
