// Objects that only frames of tasks own which lie in the frames of others: those of `async let`, at any depth, which have memory of
// their own as soon as they call or return more than fits there.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation
import Synchronization

final class Node: Sendable {
  let value: Int
  init(_ value: Int) { self.value = value }
}
@inline(never) @_optimize(none) func use(_ node: Node) {}

let waiting = Mutex<[CheckedContinuation<Int, Never>]>([])
func wait() async -> Int {
  await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
}

func down(_ depth: Int) async -> Int {
  let node = Node(depth)
  use(node)
  if depth == 0 { return await wait() }
  return await down(depth - 1) + node.value
}
func throwing(_ depth: Int) async throws -> Int {
  let node = Node(depth)
  use(node)
  if depth == 0 { return await wait() }
  return try await throwing(depth - 1) + node.value
}
struct Large {
  var numbers = (0, 0, 0, 0, 0, 0, 0, 0)
  var node: Node
}
func large() async -> Large {
  let node = Node(9)
  use(node)
  _ = await wait()
  return Large(node: node)
}
func generic<T: Sendable>(_ value: T) async -> (T, Int) {
  let node = Node(1)
  use(node)
  let sum = await down(1)
  return (value, sum + node.value)
}
func nested(_ depth: Int) async -> Int {
  let node = Node(depth)
  use(node)
  if depth == 0 { return await down(2) }
  async let inner = nested(depth - 1)
  async let other = down(depth)
  return await inner + other + node.value
}
func groups() async -> Int {
  let node = Node(100)
  use(node)
  return await withTaskGroup(of: Int.self) { group in
    for depth in 1...3 {
      group.addTask {
        async let sum = down(depth)
        return await sum
      }
    }
    var sum = 0
    for await part in group { sum += part }
    return sum + node.value
  }
}
func groupsInside() async -> Int {
  async let sum = groups()
  return await sum
}
enum Local {
  @TaskLocal static var first: Node?
  @TaskLocal static var second: Node?
}
func locals() async -> Int {
  await Local.$first.withValue(Node(5)) {
    async let sum = Local.$second.withValue(Node(6)) { await down(2) }
    return await sum
  }
}
actor Room {
  func enter() async -> Int {
    let node = Node(7)
    use(node)
    async let sum = down(3)
    return await sum + node.value
  }
}
final class Executor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    DispatchQueue.global().async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}
func preferring() async -> Int {
  await withTaskExecutorPreference(Executor()) {
    async let sum = down(2)
    return await sum
  }
}
let kinds: [@Sendable () async -> Int] = [
  {
    async let sum = down(1)
    return await sum
  },
  {
    async let sum = throwing(3)
    return (try? await sum) ?? 0
  },
  {
    async let value = large()
    return await value.node.value
  },
  {
    async let pair = generic(Large(node: Node(3)))
    return await pair.1
  },
  {
    async let first = nested(3)
    async let second = nested(1)
    return await first + second
  },
  groups, groupsInside, locals, { await Room().enter() }, preferring,
]
let tasks = kinds.map { kind in Task.detached { await kind() } }
wait_until_others_sleep()

var falseReports = 0
for copy in [false, true] { falseReports += Int(undead_test_result(copy, copy).leaked) }
print("false reports: \(falseReports), waiting: \(waiting.withLock { $0.count })")
