#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop

// What is wrong with timers.
extension Diagnostics {
  @inline(never)
  static func timerCreated(_ timer: TrackedTimer) {
    let creation = Instrument.isWatching ? [] : backtrace()
    let birth = Birth(createdAt: undead_loop_monotonic(), creation: creation)
    state.withLock { $0.births[HiddenReference(timer)] = birth }
  }

  /// Called by the timer's `deinit`: nobody else can see it any more.
  @inline(never)
  static func timerDestroyed(_ timer: TrackedTimer) {
    let birth = state.withLock { state in
      state.deadTargetReported.remove(HiddenReference(timer))
      return state.births.removeValue(forKey: HiddenReference(timer))
    }
    guard birth != nil || Instrument.isWatching, timer.fireCount == 0, !timer.flags.contains(.detached),
      timer.status.load(ordering: .acquiring) == TrackedTimer.Status.valid
    else {
      return
    }
    let name = timer.extras.load()?.name ?? ""
    let label = name.isEmpty ? "a timer" : "timer \"\(name)\""
    let reason = timer.flags.contains(.wasScheduled) ? "it was removed from its loop" : "it was never added to a loop"
    report(
      .timerDeallocatedUnfired, "\(label) was deallocated before it ever fired: \(reason)",
      details: name.isEmpty ? [:] : ["timer": name], backtraces: traces(birth, of: timer))
  }

  /// Called before a timer is added to a loop, so that it is never taken for a forgotten one.
  static func willSchedule(_ timer: TrackedTimer) {
    if state.withLock({ !$0.isWanted }) {
      // Of timers that are scheduled the instrument knows all that is needed.
      state.withLock { _ = $0.births.removeValue(forKey: HiddenReference(timer)) }
      return
    }
    let trace = backtrace()
    state.withLock { state in
      state.births[HiddenReference(timer)]?.scheduling = trace
      state.births[HiddenReference(timer)]?.isSettled = 1
    }
  }

  static func timerInvalidated(_ timer: TrackedTimer) {
    state.withLock { $0.births[HiddenReference(timer)]?.isSettled = 1 }
  }

  static func timerNamed(_ timer: TrackedTimer, _ name: String) {
    state.withLock { $0.births[HiddenReference(timer)]?.name = name }
  }

  static func firingForDeadTarget(_ timer: TrackedTimer, _ typeName: String) {
    firingInVain(timer, typeName, "its target, \(typeName), is gone")
  }

  /// All that the timer's block captures is gone.
  static func firingForNobody(_ timer: TrackedTimer, _ typeName: String) {
    firingInVain(timer, typeName, "\(typeName), which is all that its block captures, is gone")
  }

  private static func firingInVain(_ timer: TrackedTimer, _ typeName: String, _ reason: String) {
    guard isOn else { return }
    let (isNew, birth) = state.withLock { state in
      (state.deadTargetReported.insert(HiddenReference(timer)).inserted, state.births[HiddenReference(timer)])
    }
    guard isNew else { return }
    report(
      .timerFiringForDeadTarget,
      "\(timer.reportName) keeps firing although \(reason)",
      timer: timer, details: ["target": typeName], backtraces: traces(birth, of: timer))
  }

  /// The call to a freed target was prevented.
  static func zombie(timer: TrackedTimer, target: TimerTarget) {
    let isLogged = Instrument.logZombie(target)
    guard isOn else { return }
    let access = backtrace()
    let allocation = Instrument.allocation(at: target.address)
    let birth = birth(of: timer)
    let selector = target.selector.isEmpty ? "its action" : target.selector
    report(
      .timerTarget,
      "\(timer.reportName) would have called \(selector) of \(target.typeName), which was freed; it was invalidated",
      timer: timer, details: ["target": target.typeName, "selector": target.selector, "address": hex(target.address)],
      backtraces: traces(birth, of: timer)
        + (allocation.isEmpty ? [] : [.init(role: "allocation", addresses: allocation)])
        + [.init(role: "access", addresses: access)], isLogged: !isLogged)
  }

  static func invalidatedOffThread(_ timer: TrackedTimer, loop: String) {
    report(
      .invalidatedOffThread,
      "\(timer.reportName) of run loop \"\(loop)\" was invalidated from another thread; it took effect", loop: loop,
      timer: timer,
      backtraces: traces(birth(of: timer), of: timer) + [.init(role: "invalidation", addresses: backtrace())])
  }

  static func willCall(_ timer: TrackedTimer, on loop: TrackedRunLoop, lateness: Int64) {
    guard lateness > limits.lateFire.load(ordering: .relaxed) else { return }
    let culprit = loop.core.withLock { loop.core.state.pointee.statistics.slowest }
    var details = ["seconds": "\(Instants.seconds(lateness))"]
    var message = "\(timer.reportName) fired \(milliseconds(lateness)) late"
    // A callback that took a small part of that time is not to blame.
    let worthNaming: Int64 = 10
    if let culprit, culprit.nanoseconds > lateness / worthNaming {
      message += ": \(culprit.description) ran for \(milliseconds(culprit.nanoseconds))"
      details["culprit"] = culprit.description
      details["culpritSeconds"] = "\(Instants.seconds(culprit.nanoseconds))"
    } else if !isWanted {
      // A busy machine, a stopped process: nothing that the program could fix.
      return
    }
    report(.lateFire, message, loop: loop.name, timer: timer, details: details, weight: lateness)
  }

  // MARK: Timers that were never scheduled

  /// - Parameters:
  ///   - atOnce: do not wait until it is clear that nobody will schedule them.
  ///   - patience: how many nanoseconds a lock may be held by another thread; nil waits for it.
  static func reportForgottenTimers(atOnce: Bool, patience: Int64? = nil) {
    let now = undead_loop_monotonic()
    let wait = atOnce ? 0 : limits.neverScheduled.load(ordering: .relaxed)
    // The timers themselves are not looked at: to hold one for a moment could mean to end it, and with it objects of the
    // program, on a thread that is not theirs.
    let find = { (state: inout State) -> [(Birth, [RunLoopDiagnostic.Trace])] in
      state.births.compactMap { timer, birth in
        guard birth.isSettled == 0, now - birth.createdAt >= wait else { return nil }
        state.births[timer]?.isSettled = 1
        return (birth, traces(birth, at: timer.address))
      }
    }
    let found = patience.map { state.withLock(within: $0, find) ?? [] } ?? state.withLock(find)
    for (birth, traces) in found {
      let label = birth.name.isEmpty ? "timer" : "timer \"\(birth.name)\""
      report(
        .timerNeverScheduled, "\(label) is valid but was never added to a loop: it cannot fire",
        details: birth.name.isEmpty ? [:] : ["timer": birth.name], backtraces: traces)
    }
  }

  // MARK: Backtraces

  private static func birth(of timer: TrackedTimer) -> Birth? {
    state.withLock { $0.births[HiddenReference(timer)] }
  }

  /// Where the timer at an address was made, empty if that is not known. It is not looked at.
  static func creation(of address: UInt) -> [UInt] {
    guard let pointer = UnsafeRawPointer(bitPattern: address) else { return [] }
    let timer = HiddenReference<TrackedTimer>(Unmanaged.fromOpaque(pointer))
    let known = state.withLock { $0.births[timer]?.creation } ?? []
    return known.isEmpty ? Instrument.allocation(at: address) : known
  }

  private static func traces(_ birth: Birth?, of timer: TrackedTimer) -> [RunLoopDiagnostic.Trace] {
    traces(birth, at: HiddenReference(timer).address)
  }

  private static func traces(_ birth: Birth?, at address: UInt) -> [RunLoopDiagnostic.Trace] {
    let known = birth?.creation ?? []
    let creation = known.isEmpty ? Instrument.allocation(at: address) : known
    let scheduling = birth?.scheduling ?? []
    return (creation.isEmpty ? [] : [.init(role: "creation", addresses: creation)])
      + (scheduling.isEmpty ? [] : [.init(role: "scheduling", addresses: scheduling)])
  }
}
#endif
