// source: swiftlang/sourcekit-lsp 1276d6bf
// An actor keeps its tasks in a dictionary, and the tasks capture the actor. An entry goes when its task is executed, but
// the scheduler was shut down before. The fix clears the dictionary at shutdown.
// expect: leak IndexManager via IndexManager.inProgress

import Dispatch

enum LSPIndexTasks: LeakCase {
  final class Scheduler: @unchecked Sendable {
    private let lock = DispatchQueue(label: "scheduler")
    private var pending: [UnsafeContinuation<Bool, Never>] = []

    func add(_ continuation: UnsafeContinuation<Bool, Never>) { lock.sync { pending.append(continuation) } }
    var count: Int { lock.sync { pending.count } }
    func shutDown() {
      let dropped = lock.sync {
        defer { pending = [] }
        return pending
      }
      #if FIXED
        for continuation in dropped { continuation.resume(returning: false) }
      #else
        _ = dropped
      #endif
    }
  }

  actor IndexManager {
    private var inProgress: [String: Task<Void, Never>] = [:]
    private var indexed = 0
    private let scheduler: Scheduler

    init(scheduler: Scheduler) { self.scheduler = scheduler }

    func index(_ file: String) {
      inProgress[file] = Task {
        if await withUnsafeContinuation({ scheduler.add($0) }) { indexed += 1 }
        inProgress[file] = nil
      }
    }

    func shutDown() {
      #if FIXED
        inProgress = [:]
      #endif
    }
  }

  static func oneRound() async {
    let scheduler = Scheduler()
    let manager = IndexManager(scheduler: scheduler)
    await manager.index("a.swift")
    await manager.index("b.swift")
    await waitUntil { scheduler.count == 2 }
    scheduler.shutDown()
    await manager.shutDown()
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
