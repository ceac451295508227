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

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? { nil }

  func scheduleAndFire(_ count: Int) -> Int64 {
    let fired = Fired()
    let done = DispatchSemaphore(value: 0)
    let begin = now()
    for _ in 0..<count {
      queue.asyncAfter(deadline: .now()) {
        fired.count += 1
        if fired.count == count { done.signal() }
      }
    }
    done.wait()
    return now() - begin
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
