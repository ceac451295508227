import Foundation

/// Foundation's RunLoop and Timer.
struct FoundationPeer: Peer {
  let name = "Foundation"

  func scheduleAndCancel(_ count: Int) -> Int64 {
    var timers: [Timer] = []
    timers.reserveCapacity(count)
    let begin = now()
    for index in 0..<count {
      let timer = Timer(timeInterval: 1000 + Double(index) * 1e-6, repeats: false) { _ in }
      // Foundation's first fire date would be now.
      timer.fireDate = Date(timeIntervalSinceNow: 1000 + Double(index) * 1e-6)
      RunLoop.current.add(timer, forMode: .default)
      timers.append(timer)
    }
    for timer in timers { timer.invalidate() }
    return now() - begin
  }

  func scheduleAndCancelFromAnotherThread(_ count: Int) -> Int64? { nil }

  func scheduleAndFire(_ count: Int) -> Int64 {
    let fired = Fired()
    let begin = now()
    for _ in 0..<count {
      RunLoop.current.add(Timer(timeInterval: 0, repeats: false) { _ in fired.count += 1 }, forMode: .default)
    }
    while fired.count < count { RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.001)) }
    return now() - begin
  }

  func repeating(_ count: Int, interval: Int64, seconds: Int, log: LatenessLog) -> Int? {
    let begin = now()
    var timers: [Timer] = []
    for index in 0..<count {
      let phase = interval + Int64(index) * interval / Int64(count)
      let timer = Timer(timeInterval: Double(interval) / 1e9, repeats: true) { _ in
        log.note(start: begin + phase, interval: interval)
      }
      timer.fireDate = Date(timeIntervalSinceNow: Double(begin + phase - now()) / 1e9)
      RunLoop.current.add(timer, forMode: .default)
      timers.append(timer)
    }
    RunLoop.current.run(until: Date(timeIntervalSinceNow: Double(seconds)))
    for timer in timers { timer.invalidate() }
    return nil
  }
}
