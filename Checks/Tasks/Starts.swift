import Foundation

/// How a task comes to wait. Each starts tasks that run the body once.
typealias Body = @Sendable () async -> Void

nonisolated(unsafe) var handle: Task<Void, Never>?
nonisolated(unsafe) var handles: [Task<Void, any Error>] = []

final class Holder: @unchecked Sendable {
  var task: Task<Void, Never>?
  deinit { task?.cancel() }
}
nonisolated(unsafe) let holder = Holder()

actor Worker {
  func work(_ body: Body) async { await body() }
}
let worker = Worker()

@inline(never) func generic<T: Sendable>(_ value: T, _ body: Body) async -> T {
  await body()
  return value
}

enum Bound { @TaskLocal static var number = 0 }

let starts: [(String, (@escaping Body) -> Void)] = [
  ("task", { body in Task { await body() } }),
  ("detached", { body in Task.detached(priority: .background) { await body() } }),
  ("handle", { body in handle = Task { await body() } }),
  ("handles", { body in for _ in 0..<3 { handles.append(Task { await body() }) } }),
  ("field", { body in holder.task = Task { await body() } }),
  ("actor", { body in Task { await worker.work(body) } }),
  (
    "group",
    { body in
      Task { await withTaskGroup(of: Void.self) { group in for _ in 0..<3 { group.addTask { await body() } } } }
    }
  ),
  (
    "discarding",
    { body in
      Task { await withDiscardingTaskGroup { group in for _ in 0..<3 { group.addTask { await body() } } } }
    }
  ),
  (
    "async-let",
    { body in
      Task {
        async let first: Void = body()
        async let second: Void = body()
        _ = await (first, second)
      }
    }
  ),
  (
    "awaited",
    { body in
      Task {
        let inner = Task { await body() }
        await inner.value
      }
    }
  ),
  ("generic", { body in Task { _ = await generic([body.self as Any is Int], body) } }),
  ("named", { body in Task(name: "the \(#line)") { await Bound.$number.withValue(7) { await body() } } }),
]
