#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import CUndeadRunLoop
import Dispatch

// The end of a loop: its thread ends, or its last owner lets go of it. First it takes nothing more but jobs of the concurrency
// runtime. Then its thread lets go of what the loop had, and is still the loop's thread for all that dies with it. Then the
// jobs, which must not be lost, go to a queue that stands in for the thread.

/// What a loop leaves behind.
private struct Left {
  var timers: [TrackedTimer]
  var work: [WorkQueue.Item]
  var sources: [SourceTable.Record]
  var observers: [ObserverTable.Record]
}

extension TrackedRunLoop {
  /// The loop's thread ends: waiters are released, timers are detached and reported.
  func finish() {
    guard let jobs = endAll() else { return }
    core.withLock {
      let state = core.state
      state.pointee.takesJobs = false
      state.pointee.owner = 0
      state.pointee.threadID = 0
      // Under this hold, so that later ones come later.
      standIn(for: jobs + state.pointee.work.removeAll().compactMap(\.job))
    }
  }

  /// The same for a loop that nobody can use any more, and that must not be held again.
  func finishForGood() {
    if let jobs = endAll(), !jobs.isEmpty { StandIn.shared.run(jobs) }
  }

  /// Takes everything out of the loop, unless it has ended already.
  private func stopTaking() -> Left? {
    core.withLock { () -> Left? in
      let state = core.state
      if state.pointee.isFinished { return nil }
      core.closeInbox()
      state.pointee.isFinished = true
      state.pointee.sleep.end()
      let sources = core.removeAllSources()
      let observers = state.pointee.observers.removeAll()
      for record in observers { record.observer.membership.leave() }
      state.pointee.poller.closeTimer()
      state.pointee.poller.stopWatchingClock()
      return Left(
        timers: core.removeAllTimers(), work: state.pointee.work.removeAll(), sources: sources, observers: observers)
    }
  }

  /// Ends and releases what the loop had. Returns the jobs among it, nil if it had ended already.
  private func endAll() -> [UnownedJob]? {
    guard let left = stopTaking() else { return nil }
    for item in left.work {
      if case .block(_, let completion) = item { completion?.abandon() }
      if case .call(_, let completion) = item { completion?.abandon() }
    }
    for record in left.sources { record.closeSignal() }
    let lost = left.timers.filter { $0.loopEnded() }
    if Diagnostics.isOn { Diagnostics.loopEnded(self, timers: lost) }
    return left.work.compactMap(\.job)
  }

  /// Runs jobs that came too late for the loop's thread. The caller holds the lock.
  private func standIn(for jobs: [UnownedJob]) {
    if jobs.isEmpty { return }
    // Held by the queue until they have run: nobody else gets the loop's state before.
    identity.standIn.async { [self] in
      for job in jobs { runLate(job) }
    }
  }

  /// The loop's thread is, for the time of this job, the calling one.
  private func runLate(_ job: UnownedJob) {
    core.withLock { core.state.pointee.owner = undead_loop_thread() }
    job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    core.withLock { core.state.pointee.owner = 0 }
  }

  /// Gives the loop a job, whether or not its thread goes on: a task that is never resumed would never end, and leak.
  func take(_ job: UnownedJob) {
    core.withLock {
      if core.state.pointee.takesJobs {
        core.append(.job(job), modes: [ModeTable.commonMode])
      } else {
        standIn(for: [job])
      }
    }
  }
}

extension WorkQueue.Item {
  /// The job, if it is one.
  fileprivate var job: UnownedJob? {
    if case .job(let job) = self { job } else { nil }
  }
}

/// An executor for jobs of loops that are gone.
private final class StandIn: SerialExecutor, TaskExecutor {
  static let shared = StandIn()

  private let queue = DispatchQueue(label: "UndeadRunLoop.ended")

  func run(_ jobs: [UnownedJob]) {
    queue.async { [self] in
      for job in jobs {
        job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) { run([UnownedJob(job)]) }

  func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }
}
#endif
