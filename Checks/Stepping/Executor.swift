import Foundation

/// Runs the jobs of one task, and of those that it makes, in the thread that waits for it.
final class ThreadExecutor: TaskExecutor, @unchecked Sendable {
  private let lock = NSLock()
  private let ready = DispatchSemaphore(value: 0)
  private var jobs: [UnownedJob] = []
  private var result: Int?

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    lock.withLock { jobs.append(job) }
    ready.signal()
  }
  private func end(_ result: Int) {
    lock.withLock { self.result = result }
    ready.signal()
  }
  private func next() -> UnownedJob? { lock.withLock { jobs.isEmpty ? nil : jobs.removeFirst() } }

  static func run(_ body: @escaping @Sendable (Int) async -> Int, _ value: Int) -> Int {
    let executor = ThreadExecutor()
    Task(executorPreference: executor) { executor.end(await body(value)) }
    while true {
      executor.ready.wait()
      if let job = executor.next() {
        job.runSynchronously(on: executor.asUnownedTaskExecutor())
      } else if let result = executor.lock.withLock({ executor.result }) {
        return result
      }
    }
  }
}
