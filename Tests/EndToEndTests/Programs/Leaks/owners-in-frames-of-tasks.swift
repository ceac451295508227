// Owners that only their own waiting tasks keep: by a frame, by what a task of a group captures, and while a living object feeds the
// stream or has the continuation. One without a field for the task may live on purpose.
// EXPECT suspect kind=heldByTask types=App.Guarded count=1
// EXPECT suspect kind=heldByTask types=App.Method count=1
// EXPECT suspect kind=heldByTask types=App.Actor count=1
// EXPECT suspect kind=heldByTask types=App.Group count=1
// EXPECT suspect kind=heldByTask types=App.Sleeper count=1
// EXPECT suspect kind=heldByTask types=App.Detached count=1
// EXPECT suspect kind=heldByTask types=App.Waiting count=1
// EXPECT suspect kind=heldByTask types=App.Strong count=1
// FLAGS -parse-as-library
// HEADER ../Support/waiting.h
import Synchronization

let numbers = Mutex<[AsyncStream<Int>.Continuation]>([])
let waiting = Mutex<[CheckedContinuation<Int, Never>]>([])
func stream() -> AsyncStream<Int> { AsyncStream { next in numbers.withLock { $0.append(next) } } }

class Owner: @unchecked Sendable {
  var sum = 0
  func take(_ number: Int) { sum += number }
  func run() async {
    arrive()
    for await number in stream() { take(number) }
  }
}
class Keeper: Owner, @unchecked Sendable { var task: Task<Void, any Error>? }
final class Guarded: Keeper, @unchecked Sendable {
  func start() {
    let numbers = stream()
    task = Task { [weak self] in
      guard let self else { return }
      arrive()
      for await number in numbers { self.take(number) }
    }
  }
}
final class Method: Keeper, @unchecked Sendable {
  func start() { task = Task { [weak self] in await self?.run() } }
}
actor Actor {
  var task: Task<Void, Never>?
  var sum = 0
  func start() { task = Task { [weak self] in await self?.run() } }
  func run() async {
    arrive()
    for await number in stream() { sum += number }
  }
}
final class Group: Keeper, @unchecked Sendable {
  func start() {
    task = Task { [weak self] in
      guard let self else { return }
      await withTaskGroup(of: Void.self) { group in group.addTask { await self.run() } }
    }
  }
}
final class Sleeper: Keeper, @unchecked Sendable {
  func start() {
    task = Task { [weak self] in
      guard let self else { return }
      arrive()
      while true {
        try await ContinuousClock().sleep(for: .seconds(1000))
        self.take(1)
      }
    }
  }
}
final class Detached: Keeper, @unchecked Sendable {
  func start() { task = Task.detached { [weak self] in await self?.run() } }
}
final class Waiting: Keeper, @unchecked Sendable {
  func start() {
    task = Task { [weak self] in
      guard let self else { return }
      arrive()
      self.take(await withCheckedContinuation { next in waiting.withLock { $0.append(next) } })
    }
  }
}
final class Strong: Keeper, @unchecked Sendable {
  func start() { task = Task { await run() } }
}
final class Alone: Owner, @unchecked Sendable {
  func start() { Task { await run() } }
}
@inline(never) @_optimize(none) func use(_ objects: [AnyObject]) {}
@inline(never) func start() async {
  let (a, b, c, d) = (Guarded(), Method(), Actor(), Group())
  let (e, f, g, h, i) = (Sleeper(), Detached(), Waiting(), Strong(), Alone())
  a.start()
  b.start()
  await c.start()
  d.start()
  e.start()
  f.start()
  g.start()
  h.start()
  i.start()
  // Each has to be there until its task waits.
  wait_until_waiting(9)
  use([a, b, c, d, e, f, g, h, i])
}
@main struct Main {
  static func main() async {
    await start()
  }
}
