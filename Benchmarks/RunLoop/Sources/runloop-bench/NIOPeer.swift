import Dispatch
import NIOCore
import NIOPosix

/// One event loop of swift-nio; timers are scheduled on its own thread.
///
/// Its repeated tasks wait from the end of a call, so they drift away from the grid, and the number of fires falls short
/// by the drift. Their lateness is that against the date that NIO gave itself.
struct NIOPeer: Peer {
  let name = "NIO"
  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  private func onLoop(_ body: @escaping @Sendable (any EventLoop) -> Int64) -> Int64 {
    let loop = group.next()
    do { return try loop.submit { body(loop) }.wait() } catch { return 0 }
  }

  func scheduleAndCancel(_ count: Int) -> Int64 { onLoop { Self.scheduleAndCancel(count, on: $0) } }

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? { Self.scheduleAndCancel(count, on: group.next()) }

  private static func scheduleAndCancel(_ count: Int, on loop: any EventLoop) -> Int64 {
    var tasks: [Scheduled<Void>] = []
    tasks.reserveCapacity(count)
    let begin = now()
    for index in 0..<count { tasks.append(loop.scheduleTask(in: .seconds(1000) + .microseconds(Int64(index))) {}) }
    for task in tasks { task.cancel() }
    return now() - begin
  }

  func scheduleAndFire(_ count: Int) -> Int64 {
    let fired = Fired()
    let done = DispatchSemaphore(value: 0)
    let begin = now()
    _ = onLoop { loop in
      for _ in 0..<count {
        _ = loop.scheduleTask(in: .zero) {
          fired.count += 1
          if fired.count == count { done.signal() }
        }
      }
      return 0
    }
    done.wait()
    return now() - begin
  }

  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int? {
    let begin = now()
    _ = onLoop { loop in
      for index in 0..<count {
        let phase = interval + Int64(index) * interval / Int64(count)
        let due = Due(begin + phase)
        loop.scheduleRepeatedTask(
          initialDelay: .nanoseconds(begin + phase - now()), delay: .nanoseconds(interval)
        ) { task in
          let called = now()
          log.note(lateness: called - due.at)
          defer { due.at = now() + interval }
          if now() - begin > Int64(seconds) * 1_000_000_000 { task.cancel() }
        }
      }
      return 0
    }
    let done = DispatchSemaphore(value: 0)
    _ = done.wait(timeout: .now() + .seconds(seconds) + .milliseconds(100))
    return nil
  }
}

/// When a repeated task is due; used on the event loop's thread only.
private final class Due: @unchecked Sendable {
  var at: Int64
  init(_ at: Int64) { self.at = at }
}
