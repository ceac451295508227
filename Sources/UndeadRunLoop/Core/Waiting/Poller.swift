#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Glibc

/// The descriptors by which a loop sleeps and is woken. They are opened at the first sleep, and stay with the loop's state
/// when that is reused.
struct Poller {
  /// Tokens of the descriptors that every loop may have; sources have greater ones.
  enum Token {
    static let wake: UInt64 = 1
    static let mainQueue: UInt64 = 2
    static let timer: UInt64 = 3
    static let clock: UInt64 = 4
  }

  private(set) var poll: Int32 = -1
  private(set) var wake: Int32 = -1
  /// Polls the poll, for others.
  private var published: Int32 = -1
  /// Armed with the next date while outside code polls the loop's descriptor, and for sleeps that end by an alarm.
  private(set) var timer: Int32 = -1
  private var timerClock = KernelClock.monotonic
  /// The instant of `timerClock` for which the timer is armed, nil if that is not known.
  private(set) var armed: Int64?
  /// Tells when the wall clock is set.
  private(set) var clockWatch: Int32 = -1
  var servesMainQueue = false
  private var process: UInt32 = 0

  var isOpen: Bool { poll >= 0 }

  /// Opens what every loop needs. False if the process has no descriptors left; the loop then works by short sleeps.
  @discardableResult
  mutating func open() -> Bool {
    if isOpen { return true }
    let poll = undead_loop_poll_create()
    guard poll >= 0 else { return false }
    let wake = undead_loop_wake_create()
    guard wake >= 0 else {
      undead_loop_close(poll)
      return false
    }
    undead_loop_poll_set(poll, wake, UNDEAD_LOOP_READABLE, Token.wake, false)
    self.poll = poll
    self.wake = wake
    process = undead_loop_process()
    return true
  }

  mutating func close() {
    closeWhatServesOneLoop()
    for descriptor in [poll, wake] where descriptor >= 0 { undead_loop_close(descriptor) }
    poll = -1
    wake = -1
  }

  /// Closes what the next loop that is given this poller must not find open.
  mutating func closeWhatServesOneLoop() {
    closeTimer()
    stopWatchingClock()
    if published >= 0 { undead_loop_close(published) }
    published = -1
  }

  // MARK: - A new poll

  /// Whether another process, which forked this one, opened them and uses them, too.
  var isInherited: Bool { isOpen && !undead_loop_is_process(process) }

  /// Opens them anew for this process, under the same numbers. What the loop waits for has to be registered again. Dispatch's
  /// queue stays the parent's.
  mutating func adopt() {
    process = undead_loop_process()
    servesMainQueue = false
    wake = undead_loop_replace(wake, undead_loop_wake_create())
    adoptTimers()
    reopen()
  }

  /// Opens the poll anew, under the same number.
  mutating func reopen() {
    poll = undead_loop_replace(poll, undead_loop_poll_create())
    guard poll >= 0, wake >= 0 else {
      // No descriptors left: the loop works by short sleeps.
      poll = -1
      return
    }
    undead_loop_poll_set(poll, wake, UNDEAD_LOOP_READABLE, Token.wake, false)
    if timer >= 0 { undead_loop_poll_set(poll, timer, UNDEAD_LOOP_READABLE, Token.timer, false) }
    if clockWatch >= 0 { undead_loop_poll_set(poll, clockWatch, UNDEAD_LOOP_READABLE, Token.clock, false) }
    if published >= 0 { undead_loop_poll_set(published, poll, UNDEAD_LOOP_READABLE, 0, false) }
  }

  private mutating func adoptTimers() {
    if timer >= 0 {
      // One that goes by a distance ends too early now, and is armed anew.
      let instant = armed ?? .min
      timer = undead_loop_replace(timer, undead_loop_timer_create(timerClock.id))
      armed = .max
      arm(instant)
    }
    if clockWatch >= 0 {
      clockWatch = undead_loop_replace(clockWatch, undead_loop_timer_create(KernelClock.realtime.id))
      if clockWatch >= 0 { undead_loop_timer_watch_clock(clockWatch) }
    }
    if published >= 0 { published = undead_loop_replace(published, undead_loop_poll_create()) }
  }

  /// A descriptor that is readable whenever the poll has something to report, -1 if there are none left. Who waits for it
  /// goes on to do so when the poll is opened anew.
  mutating func publish() -> Int32 {
    guard published < 0, open() else { return published }
    published = undead_loop_poll_create()
    if published < 0 { return -1 }
    undead_loop_poll_set(published, poll, UNDEAD_LOOP_READABLE, 0, false)
    return published
  }

  /// Opens the timer that goes by `clock`. False if the process has no descriptors left.
  @discardableResult
  mutating func openTimer(_ clock: KernelClock) -> Bool {
    if timer >= 0, timerClock == clock { return true }
    closeTimer()
    guard open() else { return false }
    let descriptor = undead_loop_timer_create(clock.id)
    guard descriptor >= 0 else { return false }
    undead_loop_poll_set(poll, descriptor, UNDEAD_LOOP_READABLE, Token.timer, false)
    timer = descriptor
    timerClock = clock
    armed = .max
    return true
  }

  mutating func closeTimer() {
    if timer >= 0 { undead_loop_close(timer) }
    timer = -1
    armed = nil
  }

  /// Lets the timer expire at an instant of its clock.
  mutating func arm(_ instant: Int64) {
    guard timer >= 0, instant != armed else { return }
    armed = instant
    undead_loop_timer_set(timer, instant, false)
  }

  /// Lets a timer that goes by `clock` expire at an instant of it. False if there can be none.
  mutating func arm(_ instant: Int64, by clock: KernelClock?) -> Bool {
    guard let clock, openTimer(clock) else { return false }
    arm(instant)
    return true
  }

  /// Lets the timer expire after so many nanoseconds of real time.
  mutating func arm(after nanoseconds: Int64) {
    guard timer >= 0 else { return }
    armed = nil
    undead_loop_timer_set(timer, nanoseconds, true)
  }

  mutating func watchClock() {
    guard open(), clockWatch < 0 else { return }
    let descriptor = undead_loop_timer_create(KernelClock.realtime.id)
    guard descriptor >= 0 else { return }
    undead_loop_timer_watch_clock(descriptor)
    undead_loop_poll_set(poll, descriptor, UNDEAD_LOOP_READABLE, Token.clock, false)
    clockWatch = descriptor
  }

  mutating func stopWatchingClock() {
    if clockWatch >= 0 { undead_loop_close(clockWatch) }
    clockWatch = -1
  }

  func noteClockSet() {
    undead_loop_drain(clockWatch)
    undead_loop_timer_watch_clock(clockWatch)
  }
}

extension KernelClock {
  /// The kernel's number for it.
  fileprivate var id: clockid_t {
    switch self {
    case .monotonic: CLOCK_MONOTONIC
    case .realtime: CLOCK_REALTIME
    case .boottime: CLOCK_BOOTTIME
    }
  }
}
#endif
