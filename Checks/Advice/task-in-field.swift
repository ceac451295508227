// A task in a field that waits for a stream which only its owner could end.
// KEPT BY the task and its owner, each by the other
// ADVICE the task waits for a stream that never ends, and holds its owner meanwhile: call finish()
// FIX finish the stream when the owner is done
final class Feed: @unchecked Sendable {
  private let numbers = AsyncStream.makeStream(of: Int.self)
  private var task: Task<Void, Never>?
  private var sum = 0
  func start() { task = Task { for await number in numbers.stream { sum += number } } }
  func stop() { numbers.continuation.finish() }
}
@inline(never) func run() async {
  let feed = Feed()
  feed.start()
  try? await Task.sleep(for: .milliseconds(100))
  #if FIXED
    feed.stop()
  #endif
}
await run()
try? await Task.sleep(for: .milliseconds(200))
