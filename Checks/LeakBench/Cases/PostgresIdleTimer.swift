// source: vapor/postgres-nio 820771e (#641)
// A pool that schedules the idle timer anew overwrote the old one, and with it the continuation that the timer's task waits
// for. The fix hands the old one out, to be resumed.
// expect: leak Task in oneRound

import Dispatch

enum PostgresIdleTimer: LeakCase {
  struct Timer {
    var id: Int
    var cancellation: CheckedContinuation<Void, Never>?
  }

  final class Pool: @unchecked Sendable {
    private enum State {
      case starting
      case idle(connection: String, idleTimer: Timer?)
    }
    private let lock = DispatchQueue(label: "pool")
    private var state = State.starting

    var isScheduled: Bool {
      lock.sync { if case .idle(_, let timer?) = state { timer.cancellation != nil } else { false } }
    }

    func schedule(_ id: Int, _ continuation: CheckedContinuation<Void, Never>) {
      lock.sync { state = .idle(connection: "one", idleTimer: Timer(id: id, cancellation: continuation)) }
    }

    func reschedule() {
      let old: Timer? = lock.sync {
        guard case .idle(let connection, let timer?) = state else { return nil }
        state = .idle(connection: connection, idleTimer: Timer(id: timer.id + 1, cancellation: nil))
        #if FIXED
          return timer
        #else
          return nil
        #endif
      }
      old?.cancellation?.resume()
    }
  }

  final class TimerRun: @unchecked Sendable {
    var id = 0

    func wait(in pool: Pool) async {
      await withCheckedContinuation { pool.schedule(id, $0) }
      id = -1
    }
  }

  static func oneRound() async {
    let pool = Pool()
    Task { [unowned pool] in await TimerRun().wait(in: pool) }
    await waitUntil { pool.isScheduled }
    pool.reschedule()
  }

  @inline(never) static func run(rounds: Int) {
    runBlocking { for _ in 0..<rounds { await oneRound() } }
  }
}
