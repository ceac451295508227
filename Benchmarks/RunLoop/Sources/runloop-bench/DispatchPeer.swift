import Dispatch

/// Dispatch timer sources on one serial queue.
struct DispatchPeer: Peer {
  let name = "Dispatch"
  private let queue = DispatchQueue(label: "bench")

  func scheduleAndCancel(_ count: Int) -> Int64 {
    var sources: [any DispatchSourceTimer] = []
    sources.reserveCapacity(count)
    let begin = now()
    for index in 0..<count {
      let source = DispatchSource.makeTimerSource(queue: queue)
      source.schedule(deadline: .now() + .seconds(1000) + .microseconds(index))
      source.setEventHandler {}
      source.activate()
      sources.append(source)
    }
    for source in sources { source.cancel() }
    queue.sync {}
    return now() - begin
  }

  func scheduleAndCancel(delays: [Int64], order: [Int]) -> Int64? {
    var sources: [any DispatchSourceTimer] = []
    sources.reserveCapacity(delays.count)
    let begin = now()
    for delay in delays { sources.append(timer(.now() + .nanoseconds(Int(delay))) {}) }
    for index in order { sources[index].cancel() }
    queue.sync {}
    return now() - begin
  }

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? { nil }

  /// With timers, which ours are: what `asyncAfter` schedules can be neither cancelled nor moved.
  func scheduleAndFire(_ count: Int) -> Int64 {
    let fired = Fired()
    let done = DispatchSemaphore(value: 0)
    var sources: [any DispatchSourceTimer] = []
    sources.reserveCapacity(count)
    let begin = now()
    for _ in 0..<count {
      sources.append(
        timer(.now()) {
          fired.count += 1
          if fired.count == count { done.signal() }
        })
    }
    done.wait()
    return now() - begin
  }

  func scheduleAndFireAfterFarTimer(_ count: Int) -> Int64? {
    let far = timer(.now() + .seconds(100_000)) {}
    defer { far.cancel() }
    return scheduleAndFire(count)
  }

  private func timer(_ deadline: DispatchTime, _ handler: @escaping @Sendable () -> Void) -> any DispatchSourceTimer {
    let source = DispatchSource.makeTimerSource(queue: queue)
    source.schedule(deadline: deadline)
    source.setEventHandler(handler: handler)
    source.activate()
    return source
  }

  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int? {
    let begin = now()
    var sources: [any DispatchSourceTimer] = []
    for index in 0..<count {
      let phase = interval + Int64(index) * interval / Int64(count)
      let source = DispatchSource.makeTimerSource(flags: .strict, queue: queue)
      source.schedule(
        deadline: .now() + .nanoseconds(Int(begin + phase - now())), repeating: .nanoseconds(Int(interval)),
        leeway: .nanoseconds(0))
      source.setEventHandler { log.note(start: begin + phase, interval: interval) }
      source.activate()
      sources.append(source)
    }
    let done = DispatchSemaphore(value: 0)
    _ = done.wait(timeout: .now() + .seconds(seconds))
    for source in sources { source.cancel() }
    queue.sync {}
    return nil
  }
}
