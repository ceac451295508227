import CUndeadRunLoop
import Dispatch

extension TrackedRunLoop {
  /// A descriptor that is readable whenever the loop has something to do: poll it, and call ``runPending(mode:)`` then.
  ///
  /// It stays valid as long as the loop. -1 if the process has no descriptors left.
  public var pollDescriptor: Int32 {
    core.withLock {
      core.openPoller()
      core.state.pointee.poller.openTimer(clock.kernelClock ?? .monotonic)
    }
    armForDriver()
    return core.withLock { core.state.pointee.poller.publish() }
  }

  /// Does what is due, without waiting, on behalf of whoever polls ``pollDescriptor``.
  ///
  /// - Parameter mode: the mode to serve.
  /// - Returns: as ``run(mode:for:returnAfterSourceHandled:)`` with no time to wait.
  @discardableResult
  public func runPending(mode: Mode = .default) -> RunResult {
    core.withLock { core.state.pointee.driverMode = mode.index }
    let result = run(mode: mode, deadline: .min, returnAfterSource: false)
    armForDriver()
    return result
  }

  /// Arms the timer descriptor, if somebody polls it, for the next date; work that came after the last pass is due at once.
  func armForDriver() {
    guard let next = core.withLock({ armByKernelClock() }) else { return }
    // A clock that the kernel does not know says itself what to wait for. It is asked without the lock: it may move.
    let wait = clock.wait(until: next)
    core.withLock {
      switch wait {
      case .sleep(let nanoseconds) where nanoseconds > 0: core.state.pointee.poller.arm(after: nanoseconds)
      case .sleep(0), .elapsed: core.state.pointee.poller.arm(.min)
      case .sleep, .untilJump, .alarm: core.state.pointee.poller.arm(.max)
      }
    }
  }

  /// Returns the instant for which a clock that the kernel does not know has to be asked, nil if there is no need to.
  /// The caller holds the lock.
  private func armByKernelClock() -> Int64? {
    let state = core.state
    // A loop that runs may be asleep, in another mode and until another date; it is armed when its last run ends.
    guard state.pointee.poller.timer >= 0, !state.pointee.isFinished, state.pointee.activations.isEmpty else {
      return nil
    }
    let mode = state.pointee.driverMode
    core.syncPolled(mode)
    let hasWork =
      state.pointee.work.hasWork(mode: mode, commonModes: state.pointee.commonModes)
      || state.pointee.sources.hasSignalled(in: mode)
    var next = hasWork ? Int64.min : core.nextWake(mode: mode)
    if next != .min { next = core.postponed(next, mode: mode) }
    // From here on, whoever adds something earlier writes to the wake descriptor.
    if next == .min { state.pointee.sleep.end() } else { state.pointee.sleep.begin(until: next) }
    if next != .min, clock.kernelClock == nil { return next }
    state.pointee.poller.arm(next)
    return nil
  }

  /// Lets a Dispatch queue run the loop: on the main queue, also Foundation's main `RunLoop` does.
  ///
  /// - Parameter queue: a serial queue.
  /// - Returns: keep it; when it is released or cancelled, the queue no longer runs the loop.
  public func drive(on queue: DispatchQueue, mode: Mode = .default) -> RunLoopDriver {
    RunLoopDriver(self, queue, mode)
  }
}

/// A Dispatch queue that runs a loop; see ``TrackedRunLoop/drive(on:mode:)``.
public final class RunLoopDriver: Sendable {
  // DispatchSource is thread-safe, but its protocol does not say so.
  nonisolated(unsafe) private let source: any DispatchSourceRead
  private let ended = Completion()

  fileprivate init(_ loop: TrackedRunLoop, _ queue: DispatchQueue, _ mode: TrackedRunLoop.Mode) {
    source = DispatchSource.makeReadSource(fileDescriptor: loop.pollDescriptor, queue: queue)
    source.setEventHandler { [loop] in loop.runPending(mode: mode) }
    source.setCancelHandler { [ended] in ended.finish() }
    source.activate()
  }

  deinit { cancel() }

  /// Stops driving the loop. May be called twice.
  public func cancel() { source.cancel() }

  /// Whether the queue has let go of the loop, which it does some time after ``cancel()``.
  public var isCancelled: Bool { ended.isFinished }
}
