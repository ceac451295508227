// What went through a deque is gone from it, what is in it is alive, even where it goes around the end of the storage.
// EXPECT leak kind=retainCycle types=App.Payload fields=itself count=30
// EXPECT leak kind=retainCycle types=App.Payload fields=itself count=10
// LIBRARY DequeModule.swift
import DequeModule
import Foundation

final class Payload {
  var itself: Payload?
  var live = false
  init(live: Bool = false) {
    self.live = live
    if !live { itself = self }
  }
}
struct Entry {
  var number: Int32
  var payload: Payload
  var flag: Bool
}
final class Queues {
  var payloads = Deque<Payload>(capacity: 16)
  var entries = Deque<Entry>(capacity: 16)
  var optionals = Deque<Payload?>(capacity: 16)
}
nonisolated(unsafe) let queues = Queues()

@inline(never) func pass() {
  for _ in 0..<10 {
    queues.payloads.append(Payload())
    queues.entries.append(Entry(number: 1, payload: Payload(), flag: true))
    queues.optionals.append(Payload())
  }
  for _ in 0..<10 {
    _ = queues.payloads.removeFirst()
    _ = queues.entries.removeFirst()
    _ = queues.optionals.removeFirst()
  }
  for _ in 0..<9 {
    queues.payloads.append(Payload(live: true))
    queues.entries.append(Entry(number: 1, payload: Payload(live: true), flag: true))
    queues.optionals.append(Payload(live: true))
  }
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
// The same of a thread that waits and may be changing it.
let ready = DispatchSemaphore(value: 0)
let never = DispatchSemaphore(value: 0)
@inline(never) func pass(through payloads: inout Deque<Payload>) {
  for _ in 0..<10 { payloads.append(Payload()) }
  for _ in 0..<10 { _ = payloads.removeFirst() }
  for _ in 0..<9 { payloads.append(Payload(live: true)) }
}
@inline(never) func waitWithDeque() {
  var payloads = Deque<Payload>(capacity: 16)
  pass(through: &payloads)
  scrub(20)
  ready.signal()
  never.wait()
  print(payloads.count)
}
pass()
scrub(20)
Thread.detachNewThread(waitWithDeque)
ready.wait()
print(queues.payloads.count, queues.entries.count, queues.optionals.count)
