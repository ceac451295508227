// Tasks, timers and observers that go on for an object that is gone. Those that end by themselves, or whose owner lives, are nothing.
// EXPECT suspect kind=taskOfDeadOwner count=3 advice=`polling`
// EXPECT suspect kind=taskOfDeadOwner count=2 advice=keep
// EXPECT suspect kind=timerOfDeadOwner count=2 advice=`timers`
// EXPECT suspect kind=timerOfDeadOwner count=1 advice=keep
// EXPECT suspect kind=timerOfDeadOwner count=1 advice=invalidate
// EXPECT suspect kind=observerOfDeadOwner count=2 advice=`token`
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
import Dispatch
import Foundation

nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var feeds: [AsyncStream<Int>.Continuation] = []

final class Poller: @unchecked Sendable {
  var polls = 0
  var polling: Task<Void, Never>?
  var timers: [any DispatchSourceTimer] = []
  func poll() {
    polling = Task { [weak self] in
      while true {
        arrive()
        try? await Task.sleep(for: .seconds(600))
        self?.polls += 1
      }
    }
  }
  func pollOnce() {
    Task { [weak self] in
      arrive()
      try? await Task.sleep(for: .seconds(600))
      self?.polls += 1
    }
  }
  func tick(every interval: Double) {
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler { [weak self] in self?.polls += 1 }
    timer.schedule(deadline: .now() + 600, repeating: interval)
    timer.resume()
    kept.append(timer as AnyObject)
  }
}

final class WeakProxy<Target: AnyObject>: @unchecked Sendable {
  weak var target: Target?
  init(_ target: Target) { self.target = target }
}

// By a proxy of a proxy. An object with more than a weak field may do something itself.
final class Counted: @unchecked Sendable {
  weak var target: Poller?
  var fires = 0
  init(_ target: Poller) { self.target = target }
}

@inline(never) func tickByProxies(_ poller: Poller) {
  let (inner, counted) = (WeakProxy(poller), Counted(poller))
  let outer = WeakProxy(inner)
  kept.append(inner)
  for handler in [
    { outer.target?.target?.polls += 1 },
    {
      counted.fires += 1
      counted.target?.polls += 1
    },
  ] as [@Sendable () -> Void] {
    let timer = DispatchSource.makeTimerSource()
    timer.setEventHandler(handler: handler)
    timer.schedule(deadline: .now() + 600, repeating: 600)
    timer.resume()
    kept.append(timer as AnyObject)
  }
}

final class Listener: @unchecked Sendable {
  var heard = 0
  var token: (any NSObjectProtocol)?
  var timer: Timer?
  func listen() {
    token = NotificationCenter.default.addObserver(forName: Notification.Name("a"), object: nil, queue: nil) {
      [weak self] _ in self?.heard += 1
    }
  }
  func tick(repeats: Bool, isKept: Bool = true) {
    let timer = Timer(timeInterval: 600, repeats: repeats) { [weak self] _ in self?.heard += 1 }
    RunLoop.main.add(timer, forMode: .default)
    if isKept { self.timer = timer } else { timer.invalidate() }
    kept.append(timer)
  }
}

@inline(never) func listen() {
  let living = Listener()
  kept.append(living)
  living.listen()
  living.tick(repeats: true)
  for _ in 0..<2 { Listener().listen() }
  Listener().tick(repeats: true)
  Listener().tick(repeats: false)
  Listener().tick(repeats: true, isKept: false)
}

final class Typed<Element: Sendable>: @unchecked Sendable {
  var last: Element?
  func follow(_ stream: AsyncStream<Element>) {
    Task { [weak self] in
      arrive()
      for await element in stream { self?.last = element }
    }
  }
}

@inline(never) func start() {
  let living = Poller()
  kept.append(living)
  living.poll()
  living.tick(every: 600)
  tickByProxies(living)
  tickByProxies(Poller())
  for _ in 0..<3 { Poller().poll() }
  for _ in 0..<3 { Poller().pollOnce() }
  for _ in 0..<2 { Poller().tick(every: 600) }
  Poller().tick(every: .infinity)
  for _ in 0..<2 {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    feeds.append(continuation)
    Typed<Int>().follow(stream)
  }
}
@main struct Main {
  static func main() async throws {
    start()
    listen()
    wait_until_waiting(9)
  }
}
