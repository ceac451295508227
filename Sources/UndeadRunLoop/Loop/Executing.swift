import CUndeadRunLoop
import Dispatch

// A loop as the thread of actors and tasks. Jobs run in the common modes, in the order in which they came.
extension TrackedRunLoop: SerialExecutor, TaskExecutor {
  /// Runs a job of the concurrency runtime on the loop's thread. Called by the runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if core.enqueue(.job(job), mode: ModeTable.commonMode) { return }
    // A task that is never resumed would never end, and leak. The loop is over, so a serial queue may stand in for it.
    FinishedLoops.run(job, for: self)
  }

  public func asUnownedSerialExecutor() -> UnownedSerialExecutor { UnownedSerialExecutor(ordinary: self) }

  public func asUnownedTaskExecutor() -> UnownedTaskExecutor { UnownedTaskExecutor(ordinary: self) }

  /// Whether the caller runs on the loop's thread; the runtime asks in `assumeIsolated` and its like.
  public func isIsolatingCurrentContext() -> Bool? { isCurrentThread }

  /// Stops the program if the caller does not run on the loop's thread.
  public func checkIsolated() {
    precondition(isCurrentThread, "Incorrect actor executor assumption: expected the thread of \(self)")
  }
}

/// Runs what was meant for loops whose thread has ended.
enum FinishedLoops {
  private static let queue = DispatchQueue(label: "UndeadRunLoop.finished")

  static func run(_ job: UnownedJob, for loop: TrackedRunLoop) {
    queue.async {
      loop.core.withLock { loop.core.state.pointee.owner = undead_loop_thread() }
      job.runSynchronously(isolatedTo: loop.asUnownedSerialExecutor(), taskExecutor: loop.asUnownedTaskExecutor())
      loop.core.withLock { loop.core.state.pointee.owner = 0 }
    }
  }
}
