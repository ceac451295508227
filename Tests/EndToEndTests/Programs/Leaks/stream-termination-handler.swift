// The handler for the end of a stream captures the object that keeps the stream open.
// EXPECT leak kind=retainCycle types=App.Channel fields=continuation count=4
final class Channel: @unchecked Sendable {
  private let stream: AsyncStream<Int>
  private let continuation: AsyncStream<Int>.Continuation
  private var ended = false
  init() {
    (stream, continuation) = AsyncStream<Int>.makeStream()
    continuation.onTermination = { _ in self.ended = true }
    continuation.yield(3)
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() { use(Channel()) }
for _ in 0..<4 { make() }
