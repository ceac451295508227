// Owners that only a timer, a source or a work item keeps, and that have a weak or unowned field for it, or for what wraps it. One
// without such a field may live on purpose, and one that others keep does.
// EXPECT suspect kind=heldByTimer types=App.Weak count=1
// EXPECT suspect kind=heldByTimer types=App.Added count=1
// EXPECT suspect kind=heldByTimer types=App.Unowned count=1
// EXPECT suspect kind=heldByTimer types=App.Screen count=1
// EXPECT suspect kind=heldByTimer types=App.Ticker count=1
// EXPECT suspect kind=heldByDispatchSource types=App.WeakSource count=1
// EXPECT suspect kind=heldByDispatchSource types=App.Item count=1
import Foundation

class Owner: @unchecked Sendable {
  var count = 0
  func step() { count += 1 }
}
final class Weak: Owner, @unchecked Sendable {
  weak var timer: Timer?
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.step() } }
}
final class Added: Owner, @unchecked Sendable {
  weak var timer: Timer?
  func start() {
    let timer = Timer(timeInterval: 1000, repeats: true) { _ in self.step() }
    RunLoop.current.add(timer, forMode: .common)
    self.timer = timer
  }
}
final class Unowned: Owner, @unchecked Sendable {
  unowned var timer: AnyObject = NSObject.self as AnyObject
  func start() { timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.step() } }
}
final class Screen: Owner, @unchecked Sendable {
  let ticker = Ticker()
  func start() { ticker.start { self.step() } }
}
final class Ticker: Owner, @unchecked Sendable {
  weak var timer: Timer?
  func start(_ body: @escaping @Sendable () -> Void) {
    timer = Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in body() }
  }
}
final class WeakSource: Owner, @unchecked Sendable {
  weak var source: AnyObject?
  func start() {
    let source = DispatchSource.makeTimerSource()
    self.source = source as AnyObject
    source.setEventHandler {
      self.step()
      use(source as AnyObject)
    }
    source.schedule(deadline: .now() + 1000)
    source.resume()
  }
}
final class Item: Owner, @unchecked Sendable {
  var item: DispatchWorkItem?
  func start() {
    let item = DispatchWorkItem { self.start() }
    self.item = item
    DispatchQueue.global().asyncAfter(deadline: .now() + 1000, execute: item)
  }
}
final class Alone: Owner, @unchecked Sendable {
  func start() { Timer.scheduledTimer(withTimeInterval: 1000, repeats: true) { _ in self.step() } }
}
final class AloneLater: Owner, @unchecked Sendable {
  func start() { DispatchQueue.global().asyncAfter(deadline: .now() + 1000) { self.start() } }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
nonisolated(unsafe) var living = Weak()
@inline(never) func start() {
  Weak().start()
  Added().start()
  Unowned().start()
  Screen().start()
  WeakSource().start()
  Item().start()
  Alone().start()
  AloneLater().start()
  living.start()
}
start()
RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
