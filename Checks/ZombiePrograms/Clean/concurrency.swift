// Tasks, actors, streams, queues.
import Dispatch
import Glibc

/// Runs a task to its end.
private func await1<T: Sendable>(_ body: @escaping @Sendable () async -> T) -> T {
  nonisolated(unsafe) var result: T?
  let done = DispatchSemaphore(value: 0)
  Task.detached {
    result = await body()
    done.signal()
  }
  done.wait()
  return result!
}

private actor Account {
  private var balance: Int
  private var log: [String] = []
  init(_ balance: Int) { self.balance = balance }
  func move(_ amount: Int, to other: Account) async {
    balance -= amount
    log.append("moved \(amount) to another account")
    await other.take(amount)
  }
  func take(_ amount: Int) { balance += amount }
  func total() -> Int { balance + log.count }
}

private func actors(_ round: Int) -> Int {
  await1 {
    let accounts = (0..<4).map { Account($0 * 100) }
    await withTaskGroup(of: Void.self) { group in
      for i in 0..<16 { group.addTask { await accounts[i % 4].move(i, to: accounts[(i + 1) % 4]) } }
    }
    var sum = round
    for account in accounts { sum += await account.total() }
    return sum
  }
}

private final class Trace: Sendable {
  let path: String
  init(_ path: String) { self.path = path }
}
private enum Locals { @TaskLocal static var trace = Trace("/") }
private func deep(_ depth: Int) async -> Int {
  guard depth > 0 else { return Locals.trace.path.utf8.count }
  return await Locals.$trace.withValue(Trace(Locals.trace.path + "next/")) {
    async let a = deep(depth - 1)
    async let b = deep(depth - 1)
    await Task.yield()
    return await a + b + Locals.trace.path.utf8.count
  }
}
private func taskLocals(_ round: Int) -> Int {
  await1 {
    let inside = await Locals.$trace.withValue(Trace("/first/")) {
      let task = Task { await deep(2) }
      let detached = Task.detached { Locals.trace.path.utf8.count }
      return await task.value + detached.value
    }
    return await deep(3) + inside + round
  }
}

private func streams(_ round: Int) -> Int {
  await1 {
    var sum = 0
    let (stream, continuation) = AsyncStream.makeStream(of: Trace.self, bufferingPolicy: .bufferingNewest(4))
    for i in 0..<10 { continuation.yield(Trace("element \(i)")) }
    continuation.finish()
    for await trace in stream { sum += trace.path.utf8.count }
    let many = AsyncStream<[Int]> { continuation in
      continuation.onTermination = { _ in }
      let task = Task {
        for i in 0..<20 { continuation.yield([i, i + 1]) }
        continuation.finish()
      }
      _ = task
    }
    for await numbers in many { sum += numbers[1] }
    // Dropped with what is in its buffer.
    let (unread, end) = AsyncThrowingStream.makeStream(of: Trace.self, bufferingPolicy: .bufferingOldest(3))
    for i in 0..<5 { end.yield(Trace("nobody reads \(i)")) }
    _ = unread
    return sum + round
  }
}

private struct Cancelled: Error { var text = "more than fifteen bytes of text" }
private func groups(_ round: Int) -> Int {
  await1 {
    let sum = try? await withThrowingTaskGroup(of: [Int].self) { group in
      for i in 0..<12 { group.addTask { (0..<i).map { $0 * i } } }
      return try await group.reduce(0) { $0 + $1.count }
    }
    let failed = await Task {
      try await withThrowingTaskGroup(of: Int.self) { group in
        for i in 0..<6 {
          group.addTask {
            if i == 3 { throw Cancelled() }
            await Task.yield()
            return i
          }
        }
        return try await group.reduce(0, +)
      }
    }.result
    var caught = 0
    if case .failure(let error) = failed { caught = (error as? Cancelled)?.text.utf8.count ?? 1 }
    let resumed = await withCheckedContinuation { continuation in
      DispatchQueue.global().async { continuation.resume(returning: [1, 2, 3].count) }
    }
    let handled = await withTaskCancellationHandler {
      await Task.yield()
      return 1
    } onCancel: {
    }
    return (sum ?? 0) + caught + resumed + handled + round
  }
}

private func queues(_ round: Int) -> Int {
  nonisolated(unsafe) var sum = 0
  let queue = DispatchQueue(label: "numbers")
  let group = DispatchGroup()
  for i in 0..<20 { queue.async(group: group) { sum += i } }
  let item = DispatchWorkItem { sum += 1 }
  queue.async(execute: item)
  item.notify(queue: queue) { sum += 1 }
  let late = DispatchWorkItem { sum += 1000 }
  late.cancel()
  queue.async(group: group, execute: late)
  group.wait()
  item.wait()
  let timer = DispatchSource.makeTimerSource(queue: queue)
  let fired = DispatchSemaphore(value: 0)
  timer.setEventHandler { fired.signal() }
  timer.setCancelHandler { fired.signal() }
  timer.schedule(deadline: .now())
  timer.resume()
  fired.wait()
  timer.cancel()
  fired.wait()
  DispatchQueue.concurrentPerform(iterations: 8) { i in queue.sync { sum += i } }
  var data = DispatchData.empty
  for i in 0..<5 { [UInt8](repeating: UInt8(i), count: 100).withUnsafeBytes { data.append($0) } }
  let bytes = data.subdata(in: 50..<420).reduce(0) { $0 + Int($1) }
  return queue.sync { sum } + bytes + round
}

private func manyThreads(_ round: Int) -> Int {
  nonisolated(unsafe) var lock = pthread_mutex_t()
  pthread_mutex_init(&lock, nil)
  nonisolated(unsafe) var words: [String] = []
  let threads = (0..<24).map { number in
    Thread1 {
      let mine = (0..<8).map { "thread \(number) word \($0)" }
      pthread_mutex_lock(&lock)
      words += mine
      pthread_mutex_unlock(&lock)
    }
  }
  for one in threads { one.join() }
  return words.reduce(round) { $0 + $1.utf8.count }
}

let concurrency: [(name: String, run: (Int) -> Int)] = [
  ("actors", actors), ("task-locals", taskLocals), ("streams", streams), ("groups", groups), ("queues", queues),
  ("many-threads", manyThreads),
]
