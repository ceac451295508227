#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
// A loop as the thread of actors and tasks. Jobs run in the common modes, in the order in which they came; when its thread
// has ended, on a queue that stands in for it.
extension TrackedRunLoop: SerialExecutor, TaskExecutor {
  /// Runs a job of the concurrency runtime on the loop's thread, or on a queue in its place if that has ended. Called by the
  /// runtime.
  public func enqueue(_ job: consuming ExecutorJob) {
    take(UnownedJob(job))
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
#endif
