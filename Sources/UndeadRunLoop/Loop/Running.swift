#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
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
#endif
