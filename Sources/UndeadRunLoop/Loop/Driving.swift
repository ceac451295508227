#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Dispatch

extension TrackedRunLoop {
  /// A descriptor that is readable whenever the loop has something to do: poll it, and call ``runPending(mode:)`` then.
  ///
  /// It stays valid as long as the loop. -1 if the process has no descriptors left.
  public var pollDescriptor: Int32 {
    openForDriver { $0.isPolledOutside = true }
  }

  /// Does what is due, without waiting, for code that polls ``pollDescriptor``.
  ///
  /// - Parameter mode: the mode to serve.
  /// - Returns: as ``run(mode:for:returnAfterSourceHandled:)`` with no time to wait.
  @discardableResult
  public func runPending(mode: Mode = .default) -> RunResult {
    core.withLock { core.state.pointee.driving.mode = mode.index }
    let result = run(mode: mode, deadline: .min, returnAfterSource: false, asDriver: true)
    core.withLock {
      // What woke the driver was for another mode: nobody has read it. A loop that runs elsewhere reads it itself.
      guard result == .finished, core.state.pointee.activations.isEmpty else { return }
      undead_loop_drain(core.state.pointee.poller.wake)
    }
    armForDriver()
    return result
  }

  /// Opens what outside code needs to poll the loop. -1 if there are no descriptors left.
  ///
  /// - Parameter note: says who polls.
  fileprivate func openForDriver(_ note: (inout DrivingState) -> Void) -> Int32 {
    let kernelClock = clock.kernelClock
    core.withLock {
      note(&core.state.pointee.driving)
      core.openPoller()
      core.state.pointee.poller.openTimer(kernelClock ?? .monotonic)
    }
    armForDriver()
    return core.withLock { core.state.pointee.poller.timer < 0 ? -1 : core.state.pointee.poller.publish() }
  }

  /// Arms the timer descriptor, if it is polled, for the next date; work that came after the last pass is due at once.
  func armForDriver() {
    let isKnown = clock.kernelClock != nil
    guard let next = core.withLock({ armByKernelClock(isKnown: isKnown) }) else { return }
    // A clock that the kernel does not know says itself what to wait for. It is asked without the lock: it may move.
    let wait = clock.wait(until: next)
    core.withLock {
      // Whoever changed that meanwhile has armed it, or written to the wake descriptor.
      guard core.state.pointee.sleep.until == next else { return }
      switch wait {
      case .sleep(let nanoseconds) where nanoseconds > 0: core.state.pointee.poller.arm(after: nanoseconds)
      case .sleep(0), .elapsed: core.state.pointee.poller.arm(.min)
      case .sleep, .untilJump, .alarm: core.state.pointee.poller.arm(.max)
      }
    }
  }

  /// Returns the instant for which a clock that the kernel does not know has to be asked, nil if there is no need to.
  /// The caller holds the lock.
  private func armByKernelClock(isKnown: Bool) -> Int64? {
    let state = core.state
    // A loop that runs may be asleep, in another mode and until another date; it is armed when its last run ends.
    guard state.pointee.poller.timer >= 0, !state.pointee.isFinished, state.pointee.activations.isEmpty else {
      return nil
    }
    let mode = state.pointee.driving.mode
    core.syncPolled(mode)
    let hasWork =
      state.pointee.work.hasWork(mode: mode, commonModes: state.pointee.commonModes)
      || state.pointee.sources.hasSignalled(in: mode)
    var next = hasWork ? Int64.min : core.state.pointee.timers.nextWake(mode: mode)
    if next != .min { next = core.postponed(next, mode: mode) }
    // From here on, adding something earlier writes to the wake descriptor.
    if next == .min { state.pointee.sleep.end() } else { state.pointee.sleep.begin(until: next) }
    if next != .min, !isKnown { return next }
    state.pointee.poller.arm(next)
    return nil
  }

  /// Lets a Dispatch queue run the loop: on the main queue, also Foundation's main `RunLoop` does.
  ///
  /// - Parameters:
  ///   - queue: a serial queue.
  ///   - mode: the mode that is run.
  /// - Returns: keep it; when it is released or cancelled, the queue no longer runs the loop.
  public func drive(on queue: DispatchQueue, mode: Mode = .default) -> RunLoopDriver {
    RunLoopDriver(self, queue, mode)
  }
}

/// A Dispatch queue that runs a loop; see ``TrackedRunLoop/drive(on:mode:)``.
public final class RunLoopDriver: Sendable {
  // DispatchSource is thread-safe, but its protocol does not say so.
  nonisolated(unsafe) private let source: any DispatchSourceProtocol
  private let ended = Completion()

  fileprivate init(_ loop: TrackedRunLoop, _ queue: DispatchQueue, _ mode: TrackedRunLoop.Mode) {
    source = Self.source(of: loop, queue)
    // Until it is cancelled the source holds what it calls, and with that itself.
    source.setEventHandler { [loop, source] in
      loop.runPending(mode: mode)
      loop.pauseWhileRunElsewhere(source)
    }
    source.setCancelHandler { [loop, ended] in
      loop.driverLeft()
      ended.finish()
    }
    source.activate()
  }

  deinit { cancel() }

  private static func source(of loop: TrackedRunLoop, _ queue: DispatchQueue) -> any DispatchSourceProtocol {
    let descriptor = loop.openForDriver { $0.queues += 1 }
    if descriptor >= 0 { return DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue) }
    // No descriptors left in the process: look every millisecond, as a loop that runs does then.
    let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now(), repeating: .milliseconds(1))
    return timer
  }

  /// Stops driving the loop. May be called twice.
  public func cancel() { source.cancel() }

  /// Whether the queue has let go of the loop, which it does some time after ``cancel()``.
  package var isCancelled: Bool { ended.isFinished }
}

extension TrackedRunLoop {
  /// While another thread runs the loop, that does all there is to do: a driver that went on to look at the descriptor
  /// would only burn time.
  fileprivate func pauseWhileRunElsewhere(_ source: any DispatchSourceProtocol) {
    let isElsewhere = core.withLock { runsElsewhere }
    guard isElsewhere else { return }
    // First, so that who resumes it cannot come before.
    source.suspend()
    let isOver = core.withLock { () -> Bool in
      guard runsElsewhere else { return true }
      core.state.pointee.driving.wait { source.resume() }
      return false
    }
    if isOver { source.resume() }
  }

  /// Whether another thread runs the loop. The caller holds the lock.
  private var runsElsewhere: Bool {
    !core.state.pointee.activations.isEmpty && core.state.pointee.owner != undead_loop_thread()
  }

  /// A Dispatch queue drives the loop no longer.
  fileprivate func driverLeft() {
    core.withLock {
      let state = core.state
      state.pointee.driving.queues -= 1
      // A loop that runs may be asleep until its timer descriptor rings.
      guard !state.pointee.driving.isDriven, state.pointee.activations.isEmpty else { return }
      state.pointee.poller.closeTimer()
      // There is nobody to notify any more.
      state.pointee.sleep.end()
    }
  }
}
#endif
