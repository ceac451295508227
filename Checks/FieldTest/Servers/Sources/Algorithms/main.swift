import AsyncAlgorithms

/// What flows through the pipelines: each is an object, so that a check may take it for lost.
final class Parcel: Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}

func source(_ count: Int, pause: Duration = .zero) -> AsyncStream<Parcel> {
  AsyncStream { continuation in
    let task = Task {
      for number in 0..<count {
        if pause > .zero { try? await Task.sleep(for: pause) }
        continuation.yield(Parcel(number))
      }
      continuation.finish()
    }
    continuation.onTermination = { _ in task.cancel() }
  }
}

func sum<S: AsyncSequence<Parcel, Never>>(_ sequence: S) async -> Int {
  var sum = 0
  for await parcel in sequence { sum += parcel.number }
  return sum
}

func channels() async {
  let channel = AsyncChannel<Parcel>()
  async let received = sum(channel)
  await withTaskGroup(of: Void.self) { group in
    for number in 0..<4 {
      group.addTask {
        for step in 0..<10 { await channel.send(Parcel(number * step)) }
      }
    }
  }
  channel.finish()
  _ = await received
}

func combinations() async {
  let pause = Duration.microseconds(300)
  async let merged = sum(merge(source(20, pause: pause), source(20)))
  async let chained = sum(chain(source(10), source(10)))
  var count = 0
  for await (first, second) in zip(source(20, pause: pause), source(20)) { count += first.number + second.number }
  for await (first, second) in combineLatest(source(10, pause: pause), source(10)) {
    count += first.number + second.number
  }
  for await chunk in source(30).chunks(ofCount: 7) { count += chunk.count }
  for await parcel in source(10).adjacentPairs() { count += parcel.1.number }
  count += await sum(source(30, pause: pause).debounce(for: .milliseconds(1)))
  count += await sum(source(30, pause: pause)._throttle(for: .milliseconds(1)))
  count += await sum(source(30).buffer(policy: .bounded(4)))
  _ = await (merged, chained, count)
}

/// Consumers that give up while they wait.
func cancelled() async {
  let channel = AsyncChannel<Parcel>()
  let consumer = Task { await sum(merge(channel, source(1000, pause: .milliseconds(1)))) }
  let producer = Task { await channel.send(Parcel(1)) }
  try? await Task.sleep(for: .milliseconds(3))
  consumer.cancel()
  producer.cancel()
  _ = await (consumer.value, producer.value)
}

await withTaskGroup(of: Void.self) { group in
  for work in [channels, combinations, cancelled] as [@Sendable () async -> Void] {
    group.addTask {
      while true { await work() }
    }
  }
}
