import CUndeadRunLoop
import FoundationEssentials

extension TrackedRunLoop {
  /// Runs in the default mode until there is nothing left to wait for, or the loop's ``RunLoopThread`` is stopped.
  ///
  /// - Important: `stop()` does not end it: it ends the innermost activation, and this method starts the next one, as
  ///   Foundation's does. The main loop always has something to wait for. To be able to stop, call
  ///   ``run(mode:for:returnAfterSourceHandled:)``, or ``run(mode:before:)`` in a loop with a condition of your own.
  public func run() {
    while run(mode: .default, deadline: .max, returnAfterSource: true) != .finished {}
  }

  /// Runs in the default mode until a date, or until there is nothing left to wait for. `stop()` does not end it.
  ///
  /// - Parameter limit: a date in the past polls once.
  public func run(until limit: Date) {
    let deadline = deadline(limit)
    repeat {
      if run(mode: .default, deadline: deadline, returnAfterSource: true) == .finished { return }
    } while clock.now < deadline
  }

  /// Runs in one mode until a source was handled, a date has come, or the loop is stopped. Timers fire meanwhile.
  ///
  /// - Parameters:
  ///   - mode: the mode to serve; `.common` is not a mode that can run and returns `.finished`.
  ///   - limit: a date in the past polls once; one that is not a number counts as past.
  /// - Returns: why it returned.
  @discardableResult
  public func run(mode: Mode, before limit: Date) -> RunResult {
    run(mode: mode, deadline: deadline(limit), returnAfterSource: true)
  }

  /// Runs in one mode for a time, as `CFRunLoopRunInMode` does.
  ///
  /// - Parameters:
  ///   - mode: the mode to serve.
  ///   - duration: how long, by the loop's clock; nil for ever. Zero or less polls once.
  ///   - returnAfterSourceHandled: whether to return as soon as a source was handled.
  /// - Returns: why it returned.
  @discardableResult
  public func run(mode: Mode = .default, for duration: Duration?, returnAfterSourceHandled: Bool = false) -> RunResult {
    let deadline = duration.map { Instants.add(clock.now, Instants.nanoseconds($0)) } ?? .max
    return run(mode: mode, deadline: deadline, returnAfterSource: returnAfterSourceHandled)
  }

  /// Ends the innermost activation of the loop; from another thread it wakes the loop. Ignored while the loop does not run.
  public func stop() {
    core.withLock {
      if core.state.pointee.activations.isEmpty { return }
      core.state.pointee.activations.stop()
      core.state.pointee.sleep.noteWork()
    }
  }

  /// Makes the loop go through one more pass: it wakes if it sleeps, and if it runs its next sleep ends at once; who drives
  /// it is called. Ignored while the loop neither runs nor is driven.
  public func wakeUp() {
    core.withLock {
      let state = core.state
      if !state.pointee.activations.isEmpty || state.pointee.sleep.isAsleep { state.pointee.sleep.noteOnePass() }
    }
  }

  /// Runs one pass of `mode` that does not wait: the result date is when the loop wants to run again.
  ///
  /// - Returns: the next fire date of a timer in the mode, nil if there is none.
  @discardableResult
  public func limitDate(forMode mode: Mode) -> Date? {
    guard run(mode: mode, deadline: .min, returnAfterSource: false) != .finished else { return nil }
    let next = core.withLock {
      isEmpty(mode.index) ? nil : core.state.pointee.timers.nextDue(mode: mode.index) ?? .max
    }
    return next.map { $0 == .max ? .distantFuture : clock.date(at: $0) }
  }

  private func deadline(_ date: Date) -> Int64 {
    // Compared as numbers: `Date` orders one that is not a number after all others.
    date.timeIntervalSinceReferenceDate >= Date.distantFuture.timeIntervalSinceReferenceDate
      ? .max : clock.instant(at: date)
  }
}

/// What a loop restores when an activation ends.
private struct OuterActivation {
  var running: UnsafeMutableRawPointer?
  /// The thread goes on to be the loop's when the activation ends.
  var ownsThread: Bool
}

extension TrackedRunLoop {
  func run(mode: Mode, deadline: Int64, returnAfterSource: Bool, asDriver: Bool = false) -> RunResult {
    guard let outer = enter(mode.index, asDriver: asDriver) else { return .finished }
    defer { leave(outer) }
    notify(.entry, mode.index)
    defer { notify(.exit, mode.index) }
    while true {
      let handledSource = pass(mode.index, deadline: deadline)
      if handledSource, returnAfterSource { return .handledSource }
      let verdict = core.withLock { () -> RunResult? in
        if core.state.pointee.activations.isStopped { return .stopped }
        return isEmpty(mode.index) ? .finished : nil
      }
      if clock.now >= deadline { return verdict == .stopped ? .stopped : .timedOut }
      if let verdict { return verdict }
    }
  }

  /// - Parameter asDriver: whether it is for somebody who polls the descriptor, and cannot know that the loop runs elsewhere.
  private func enter(_ mode: Int32, asDriver: Bool) -> OuterActivation? {
    let thread = undead_loop_thread()
    let isMainThread = kind == .main && undead_loop_is_main_thread()
    let mayAdopt = kind == .free || (kind == .main && MainThread.isCurrent)
    if servesMainQueue(mode) { openMainQueue() }
    var isForeign = false
    let outer = core.withLock { () -> OuterActivation? in
      let state = core.state
      guard !state.pointee.isFinished, !state.pointee.activations.isStoppedForGood, mode != ModeTable.commonMode,
        !isEmpty(mode)
      else { return nil }
      if state.pointee.owner != thread {
        guard mayAdopt, state.pointee.activations.isEmpty else {
          isForeign = true
          return nil
        }
        state.pointee.owner = thread
        state.pointee.threadID = undead_loop_thread_id()
      }
      core.openPoller()
      let outer = OuterActivation(
        running: undead_loop_running(), ownsThread: kind == .thread || (kind == .main && isMainThread))
      if state.pointee.activations.isEmpty {
        undead_loop_set_timer_slack(1)
        state.pointee.wasHandedTimers = false
      }
      state.pointee.activations.push(mode: mode)
      state.pointee.sleep.end()
      core.checkDescriptors()
      return outer
    }
    if isForeign, !asDriver {
      Diagnostics.report(
        .ranOnForeignThread, "\(self) was asked to run on a thread that is not its own", loop: name)
    }
    if outer != nil { undead_loop_set_running(Unmanaged.passUnretained(self).toOpaque()) }
    return outer
  }

  private func leave(_ outer: OuterActivation) {
    undead_loop_set_running(outer.running)
    let isOutermost = core.withLock { () -> Bool in
      core.state.pointee.activations.pop()
      guard core.state.pointee.activations.isEmpty else { return false }
      core.closeInbox()
      if !outer.ownsThread { core.state.pointee.owner = 0 }
      return true
    }
    guard isOutermost else { return }
    // What a driver would have been told may have been told to this run.
    armForDriver()
    for resume in core.withLock({ core.state.pointee.driving.takeWaiting() }) { resume() }
  }

  /// Whether a run in `mode` would have nothing to wait for. Observers are not content. The caller holds the lock.
  private func isEmpty(_ mode: Int32) -> Bool {
    let isCommon = core.state.pointee.commonModes.contains(mode)
    return !core.state.pointee.timers.hasTimers(in: mode) && !(core.state.pointee.isAnchored && isCommon)
      && !core.state.pointee.sources.hasSources(in: mode)
      && !core.state.pointee.work.hasWork(mode: mode, commonModes: core.state.pointee.commonModes)
      && !(core.state.pointee.poller.servesMainQueue && isCommon)
  }

  /// One pass: observers, blocks, sources, sleep, timers, blocks. Returns whether a source was handled.
  private func pass(_ mode: Int32, deadline: Int64) -> Bool {
    let isMonotonic = core.withLock { () -> Bool in
      core.state.pointee.statistics.passes += 1
      return core.state.pointee.clockIsMonotonic
    }
    if !isMonotonic { noteTime(clock.now) }
    notify(.beforeTimers, mode)
    notify(.beforeSources, mode)
    var handledSource = performWork(mode)
    if performSignalled(mode) {
      handledSource = true
      performWork(mode)
    }
    var events = [undead_loop_event](repeating: undead_loop_event(), count: 0)
    if handledSource || deadline <= clock.now {
      events = poll(mode, nanoseconds: 0)
    } else {
      notify(.beforeWaiting, mode)
      events = sleep(mode, until: deadline)
      notify(.afterWaiting, mode)
    }
    let now = core.now
    noteTime(now)
    _ = fireTimers(mode, at: now)
    if handle(events, mode) { handledSource = true }
    if performWork(mode) { handledSource = true }
    return handledSource
  }

  /// Sleeps until a timer, a source, a wake-up or the deadline.
  private func sleep(_ mode: Int32, until deadline: Int64) -> [undead_loop_event] {
    core.lock()
    core.closeInbox()
    core.syncPolled(mode)
    let state = core.state
    let idle =
      !state.pointee.activations.isStopped && !state.pointee.sleep.takeOnePass()
      && !state.pointee.sources.hasSignalled(in: mode)
      && !state.pointee.work.hasWork(mode: mode, commonModes: state.pointee.commonModes)
    var until = core.postponed(core.state.pointee.timers.nextWake(mode: mode), mode: mode)
    // A thread that schedules much would have to wake the loop again and again.
    if state.pointee.wasHandedTimers, state.pointee.clockIsMonotonic {
      until = min(until, state.pointee.sleep.earliestWake)
    }
    state.pointee.wasHandedTimers = false
    until = min(until, deadline)
    let poller = state.pointee.poller
    if idle {
      state.pointee.sleep.begin(until: until)
      state.pointee.statistics.wakeUps += 1
    }
    core.unlock()
    guard idle else { return wait(poller, nanoseconds: 0) }
    switch clock.wait(until: until) {
    case .elapsed: return wait(poller, nanoseconds: 0)
    case .sleep(let nanoseconds): return wait(poller, nanoseconds: nanoseconds)
    case .untilJump: return wait(poller, nanoseconds: -1)
    case .alarm:
      let isArmed = core.withLock { core.state.pointee.poller.arm(until, by: clock.kernelClock) }
      return wait(poller, nanoseconds: isArmed ? -1 : max(0, Instants.subtract(until, clock.now)))
    }
  }

  private func poll(_ mode: Int32, nanoseconds: Int64) -> [undead_loop_event] {
    let poller = core.withLock { () -> Poller in
      core.syncPolled(mode)
      return core.state.pointee.poller
    }
    return wait(poller, nanoseconds: nanoseconds)
  }

  private func wait(_ poller: Poller, nanoseconds: Int64) -> [undead_loop_event] {
    let capacity = 64
    let withoutDescriptors: Int64 = 1_000_000
    guard poller.isOpen else {
      // No descriptors left in the process: look again every millisecond.
      var pause = timespec(tv_sec: 0, tv_nsec: Int(min(UInt64(bitPattern: nanoseconds), UInt64(withoutDescriptors))))
      nanosleep(&pause, nil)
      core.withLock { core.state.pointee.sleep.end() }
      return []
    }
    let events = withUnsafeTemporaryAllocation(of: undead_loop_event.self, capacity: capacity) { buffer in
      let count = undead_loop_poll_wait(poller.poll, buffer.baseAddress, Int32(capacity), nanoseconds)
      return count == 0 ? [] : Array(buffer[..<Int(count)])
    }
    core.withLock {
      core.state.pointee.sleep.end()
      core.openInbox()
    }
    return events
  }

  /// Remembers when the loop woke up, and notices a clock that was set back.
  private func noteTime(_ now: Int64) {
    let setBack = core.withLock { () -> Bool in
      defer { core.state.pointee.sleep.lastWake = now }
      return now < core.state.pointee.sleep.lastWake
    }
    if setBack { core.rephase(now: now) }
  }

  func fireTimers(_ mode: Int32, at now: Int64) -> Int {
    if Diagnostics.isOn { Diagnostics.willFire(self, mode: mode, now: now) }
    return core.fireDue(mode: mode, at: now)
  }

  /// Handles what the poll reported. Returns whether a source was among it.
  private func handle(_ events: [undead_loop_event], _ mode: Int32) -> Bool {
    var handledSource = false
    for event in events {
      switch event.token {
      case Poller.Token.wake: undead_loop_drain(core.state.pointee.poller.wake)
      case Poller.Token.timer:
        core.withLock {
          undead_loop_drain(core.state.pointee.poller.timer)
          core.state.pointee.poller.arm(.max)
        }
      case Poller.Token.clock: core.withLock { core.state.pointee.poller.noteClockSet() }
      case Poller.Token.mainQueue:
        undead_loop_drain(undead_loop_main_queue_descriptor())
        Diagnostics.watching(self, .mainQueue) { undead_loop_main_queue_drain() }
        handledSource = true
      default:
        if handleDescriptor(event, mode) { handledSource = true }
      }
    }
    return handledSource
  }

  /// Runs the blocks and jobs that wait for `mode` now; what they add waits for the next turn. Returns whether there was
  /// one that counts as a source.
  @discardableResult
  func performWork(_ mode: Int32) -> Bool {
    var limit: UInt64?
    var handledSource = false
    while performNext(mode, before: &limit, &handledSource) {}
    return handledSource
  }

  /// A function of its own, so that what the item holds is released before the lock is taken again.
  private func performNext(_ mode: Int32, before limit: inout UInt64?, _ handledSource: inout Bool) -> Bool {
    core.lock()
    let state = core.state
    let last = limit ?? state.pointee.work.nextNumber
    limit = last
    let item = state.pointee.work.take(mode: mode, commonModes: state.pointee.commonModes, before: last)
    core.unlock()
    guard let item else { return false }
    if case .call = item { handledSource = true }
    perform(item)
    return true
  }

  private func perform(_ item: WorkQueue.Item) {
    switch item {
    case .block(let block, let completion), .call(let block, let completion):
      Diagnostics.watching(self, .block) { block() }
      completion?.finish()
    case .job(let job):
      Diagnostics.watching(self, .task) {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    case .release: break
    }
  }

  private func servesMainQueue(_ mode: Int32) -> Bool {
    kind == .main && !core.withLock { core.state.pointee.poller.servesMainQueue } && undead_loop_is_main_thread()
  }

  private func openMainQueue() {
    core.withLock {
      guard core.openPoller() else { return }
      core.state.pointee.poller.servesMainQueue = true
    }
  }
}
