#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

extension TrackedRunLoop {
  /// Where a pass keeps what the poll reported: on the stack, because another may run inside of it.
  private typealias Events = UnsafeMutableBufferPointer<undead_loop_event>

  /// One pass: observers, blocks, sources, sleep, timers, descriptors, blocks. Returns whether a source was handled.
  func pass(_ mode: Int32, deadline: Int64) -> Bool {
    let capacity = 64
    return withUnsafeTemporaryAllocation(of: undead_loop_event.self, capacity: capacity) {
      pass(mode, deadline: deadline, $0)
    }
  }

  private func pass(_ mode: Int32, deadline: Int64, _ events: Events) -> Bool {
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
    let count: Int
    if handledSource || isPast(deadline) {
      count = poll(mode, events)
    } else {
      notify(.beforeWaiting, mode)
      count = sleep(mode, until: deadline, events)
      notify(.afterWaiting, mode)
    }
    let now = core.now
    noteTime(now)
    _ = fireTimers(mode, at: now)
    if handle(events[..<count], mode) { handledSource = true }
    if performWork(mode) { handledSource = true }
    return handledSource
  }

  /// Sleeps until a timer, a source, a wake-up or the deadline. Returns how many events there were.
  private func sleep(_ mode: Int32, until deadline: Int64, _ events: Events) -> Int {
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
    guard idle else { return wait(poller, nanoseconds: 0, events) }
    undead_loop_set_timer_slack(1)
    switch clock.wait(until: until) {
    case .elapsed: return wait(poller, nanoseconds: 0, events)
    case .sleep(let nanoseconds): return wait(poller, nanoseconds: nanoseconds, events)
    case .untilJump: return wait(poller, nanoseconds: -1, events)
    case .alarm:
      let isArmed = core.withLock { core.state.pointee.poller.arm(until, by: clock.kernelClock) }
      return wait(poller, nanoseconds: isArmed ? -1 : max(0, Instants.subtract(until, clock.now)), events)
    }
  }

  private func poll(_ mode: Int32, _ events: Events) -> Int {
    let poller = core.withLock { () -> Poller in
      core.syncPolled(mode)
      return core.state.pointee.poller
    }
    return wait(poller, nanoseconds: 0, events)
  }

  private func wait(_ poller: Poller, nanoseconds: Int64, _ events: Events) -> Int {
    var count = 0
    if poller.isOpen {
      count = Int(undead_loop_poll_wait(poller.poll, events.baseAddress, Int32(events.count), nanoseconds))
    } else {
      // No descriptors left in the process: look again every millisecond.
      let longest: UInt64 = 1_000_000
      var pause = timespec(tv_sec: 0, tv_nsec: Int(min(UInt64(bitPattern: nanoseconds), longest)))
      nanosleep(&pause, nil)
    }
    core.withLock {
      core.state.pointee.sleep.end()
      core.openInbox()
    }
    return count
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
  private func handle(_ events: Slice<Events>, _ mode: Int32) -> Bool {
    var handledSource = false
    for event in events {
      switch event.token {
      case Poller.Token.wake: undead_loop_drain(core.withLock { core.state.pointee.poller.wake })
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
}
#endif
