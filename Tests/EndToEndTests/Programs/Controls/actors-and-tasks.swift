// Actors with work in flight, running, sleeping and waiting tasks, streams and groups alive at exit.
// EXPECT silent
// FLAGS -parse-as-library
import Foundation

final class Payload: @unchecked Sendable {
  var bytes = [UInt8](repeating: 1, count: 100)
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) { usleep(10_000) }

actor Worker {
  var payload = Payload()
  var pending: [Int: Task<Int, Never>] = [:]
  func start(_ number: Int) {
    pending[number] = Task {
      let local = Payload()
      try? await Task.sleep(for: .seconds(1000))
      return local.bytes.count
    }
  }
  func spin() async {
    while !Task.isCancelled {
      payload = Payload()
      await Task.yield()
    }
  }
  func block() {
    let local = Payload()
    while true { use(local) }
  }
}
@MainActor final class Screen {
  var model = Payload()
}
@MainActor var screens: [Screen] = []

func sleeping() async throws -> Int {
  let local = Payload()
  try await Task.sleep(for: .seconds(900))
  return local.bytes.count
}
func grouped() async {
  await withTaskGroup(of: Int.self) { group in
    for _ in 0..<10 { group.addTask { (try? await sleeping()) ?? 0 } }
    for await value in group { print(value) }
  }
}
func throwing() async throws {
  try await withThrowingTaskGroup(of: Void.self) { group in
    let local = Payload()
    group.addTask { _ = try await sleeping() }
    try await group.waitForAll()
    print(local.bytes.count)
  }
}
func consume(_ stream: AsyncStream<Payload>) async {
  for await payload in stream { print(payload.bytes.count) }
}
@main struct Main {
  static var continuation: AsyncStream<Payload>.Continuation? {
    get { Box.continuation }
    set { Box.continuation = newValue }
  }
  static func main() async throws {
    let worker = Worker()
    for number in 0..<20 { await worker.start(number) }
    Task.detached { await worker.spin() }
    let blocked = Worker()
    Task.detached { await blocked.block() }
    Task { await grouped() }
    Task { try await throwing() }
    await MainActor.run { screens.append(Screen()) }
    let (stream, continuation) = AsyncStream<Payload>.makeStream()
    Self.continuation = continuation
    continuation.yield(Payload())
    Task { await consume(stream) }
    let (unread, kept) = AsyncStream<Payload>.makeStream()
    for _ in 0..<10 { kept.yield(Payload()) }
    Box.unread = unread
    async let value = sleeping()
    async let other = sleeping()
    try await Task.sleep(for: .milliseconds(300))
    if CommandLine.arguments.count > 5 { print(try await value + other) }
    exit(0)
  }
}
enum Box {
  nonisolated(unsafe) static var continuation: AsyncStream<Payload>.Continuation?
  nonisolated(unsafe) static var unread: AsyncStream<Payload>?
}
