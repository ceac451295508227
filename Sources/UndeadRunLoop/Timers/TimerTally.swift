#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// What is counted of a timer, and its tolerance: of those that repeat, and of the few others that need it. Timers that fire
/// once are many, and this is half of what would be in them.
struct TimerTally {
  var fires: UInt64 = 0
  var missed: UInt64 = 0
  var leeway: Int64 = 0
  var latestMicroseconds: UInt32 = 0
  var worstMicroseconds: UInt32 = 0
}

extension TrackedTimer {
  // The caller has exclusive access to the timer.

  var fireCount: UInt64 { tally?.pointee.fires ?? (flags.contains(.hasFired) ? 1 : 0) }
  var missedCount: UInt64 { tally?.pointee.missed ?? 0 }
  var latestMicroseconds: UInt32 { tally?.pointee.latestMicroseconds ?? 0 }
  var worstMicroseconds: UInt32 { tally?.pointee.worstMicroseconds ?? 0 }

  /// By how many nanoseconds a fire may be delayed.
  @inline(__always)
  var leeway: Int64 {
    get { tally?.pointee.leeway ?? 0 }
    set { if newValue != 0 || tally != nil { withTally { $0.leeway = newValue } } }
  }

  /// Counts a fire. The caller holds the loop's lock.
  @inline(__always)
  func noteFire(lateness: Int64) {
    // In this order: a new tally begins with the fires that the flag shows.
    if tally != nil || Diagnostics.isOn { noteTick(lateness: lateness) }
    flags.insert(.hasFired)
  }

  @inline(never)
  private func noteTick(lateness: Int64) {
    withTally {
      $0.fires &+= 1
      $0.latestMicroseconds = UInt32(clamping: lateness / 1000)
      $0.worstMicroseconds = max($0.worstMicroseconds, $0.latestMicroseconds)
    }
  }

  func noteFireByHand() {
    flags.insert(.hasFired)
    if tally != nil { withTally { $0.fires &+= 1 } }
  }

  func noteMissed(_ ticks: Int64) { withTally { $0.missed &+= UInt64(ticks) } }

  /// Calls `body` with the tally, made if need be.
  func withTally(_ body: (inout TimerTally) -> Void) {
    let tally = tally ?? makeTally()
    body(&tally.pointee)
  }

  @inline(never)
  private func makeTally() -> UnsafeMutablePointer<TimerTally> {
    let made = UnsafeMutablePointer<TimerTally>.allocate(capacity: 1)
    made.initialize(to: TimerTally(fires: flags.contains(.hasFired) ? 1 : 0))
    tally = made
    return made
  }
}
#endif
