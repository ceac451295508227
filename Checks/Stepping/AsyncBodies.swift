// The same for frames of tasks: whatever thread runs a part of one stops at its calls.
import CStepping
import Foundation

final class Messenger: @unchecked Sendable {
  var node: Node?
  var action: (@Sendable () async -> Int)?
  var list: [Messenger] = []
  let value: Int
  init(_ value: Int) { self.value = value }
  func wait() async -> Int {
    call()
    await Task.yield()
    call()
    return value
  }
  func visit(_ other: Messenger) async -> Int {
    await Task.yield()
    return await other.wait() + value
  }
  deinit { call() }
}
actor Room {
  var guests: [Messenger] = []
  var itself: Room?
  func enter(_ guest: Messenger) async -> Int {
    itself = self
    guests.append(guest)
    call()
    await Task.yield()
    guests.removeAll { $0 === guest }
    return guests.count
  }
  func leave() {
    call()
    itself = nil
    call()
  }
}
@inline(never) func makeMessenger(_ value: Int) -> Messenger {
  let messenger = Messenger(value)
  messenger.list = [messenger]
  call()
  return messenger
}
@Sendable func waitsAlone(_ value: Int) async -> Int {
  let messenger = makeMessenger(value)
  let result = await messenger.wait()
  messenger.list = []
  return result
}
@Sendable func visits(_ value: Int) async -> Int {
  let (one, other) = (makeMessenger(value), makeMessenger(value))
  one.list.append(other)
  other.list.append(one)
  let result = await one.visit(other)
  call()
  one.list = []
  other.list = []
  return result
}
@Sendable func asyncClosures(_ value: Int) async -> Int {
  let messenger = Messenger(value)
  messenger.action = {
    call()
    return await messenger.wait()
  }
  let result = await messenger.action!()
  messenger.action = nil
  return result
}
@Sendable func asyncLets(_ value: Int) async -> Int {
  let messenger = makeMessenger(value)
  async let one = messenger.wait()
  async let other = messenger.visit(messenger)
  call()
  let sum = await one + other
  call()
  messenger.list = []
  return sum
}
@Sendable func groups(_ value: Int) async -> Int {
  let messengers = (0..<3).map(makeMessenger)
  let sum = await withTaskGroup(of: Int.self) { group in
    for messenger in messengers { group.addTask { await messenger.wait() } }
    var sum = 0
    for await part in group {
      call()
      sum += part
    }
    return sum
  }
  for each in messengers { each.list = [] }
  return sum
}
@Sendable func actors(_ value: Int) async -> Int {
  let room = Room()
  let guest = makeMessenger(value)
  let result = await room.enter(guest)
  call()
  await room.leave()
  guest.list = []
  return result
}
@Sendable func continuations(_ value: Int) async -> Int {
  let messenger = makeMessenger(value)
  let same: Messenger = await withCheckedContinuation { continuation in
    call()
    DispatchQueue.global().async { continuation.resume(returning: messenger) }
  }
  call()
  same.list = []
  return same.value
}
@Sendable func unsafeContinuations(_ value: Int) async -> Int {
  let same: Messenger = await withUnsafeContinuation { continuation in
    let messenger = makeMessenger(value)
    call()
    DispatchQueue.global().async {
      call()
      continuation.resume(returning: messenger)
      call()
    }
  }
  call()
  same.list = []
  return same.value
}
@Sendable func streams(_ value: Int) async -> Int {
  let (stream, continuation) = AsyncStream<Messenger>.makeStream()
  for number in 0..<3 { continuation.yield(makeMessenger(number)) }
  continuation.finish()
  var sum = 0
  for await messenger in stream {
    call()
    sum += messenger.value
    messenger.list = []
  }
  return sum
}
@Sendable func handles(_ value: Int) async -> Int {
  let messenger = makeMessenger(value)
  let task = Task { await messenger.wait() }
  call()
  let result = await task.value
  call()
  messenger.list = []
  return result
}
@Sendable func asyncThrows(_ value: Int) async -> Int {
  func fail(_ messenger: Messenger) async throws -> Int {
    _ = await messenger.wait()
    throw CancellationError()
  }
  let messenger = makeMessenger(value)
  defer { messenger.list = [] }
  do {
    return try await fail(messenger)
  } catch {
    call()
    return await messenger.wait()
  }
}
@Sendable func asyncExchanges(_ value: Int) async -> Int {
  func replace(_ messenger: inout Messenger) async {
    await Task.yield()
    let old = messenger
    messenger = makeMessenger(value)
    call()
    old.list = []
    await Task.yield()
  }
  var messenger = makeMessenger(value)
  await replace(&messenger)
  call()
  messenger.list = []
  return messenger.value
}

let asyncBodies: [(name: String, run: @Sendable (Int) async -> Int)] = [
  ("waitsAlone", waitsAlone), ("visits", visits), ("asyncClosures", asyncClosures), ("asyncLets", asyncLets),
  ("groups", groups), ("actors", actors), ("continuations", continuations),
  ("unsafeContinuations", unsafeContinuations), ("streams", streams), ("handles", handles),
  ("asyncThrows", asyncThrows), ("asyncExchanges", asyncExchanges),
]
