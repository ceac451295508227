// Tasks, actors, groups and streams that come and go.
// EXPECT silent
actor Store {
  var items: [Int: String] = [:]
  func put(_ key: Int) { items[key] = "\(key)" }
  func count() -> Int { items.count }
}

class Worker: @unchecked Sendable {
  var done = 0
  func work(_ store: Store, _ number: Int) async throws -> Int {
    await store.put(number)
    try await Task.sleep(nanoseconds: 1000)
    done += 1
    return await store.count()
  }
}

@inline(never) func round(_ number: Int) async throws -> Int {
  let store = Store()
  return try await withThrowingTaskGroup(of: Int.self) { group in
    for index in 0..<10 { group.addTask { try await Worker().work(store, index) } }
    var highest = 0
    for try await count in group { highest = max(highest, count) }
    let stream = AsyncStream<Worker> { continuation in
      for _ in 0..<10 { continuation.yield(Worker()) }
      continuation.finish()
    }
    for await worker in stream { highest += worker.done }
    return highest + number - number
  }
}

var total = 0
for number in 0..<30 { total += try await round(number) }
print(total)
