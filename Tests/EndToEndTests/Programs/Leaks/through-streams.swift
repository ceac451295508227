// What went through the buffer of a stream is gone from it: consumed slots keep nothing alive.
// EXPECT leak kind=retainCycle types=App.Payload fields=itself count=40
import Foundation

final class Payload {
  var itself: Payload?
  init() { itself = self }
}
nonisolated(unsafe) let stream = AsyncStream.makeStream(of: Payload?.self)

@inline(never) func feed() {
  for _ in 0..<40 { stream.continuation.yield(Payload()) }
  // Behind them goes what leaves nothing in the frames of those who took it.
  for _ in 0..<8 { stream.continuation.yield(nil) }
}
@inline(never) func eat() async -> Int {
  var count = 0
  for await payload in stream.stream {
    count += payload == nil ? 1 : 0
    if count == 8 { break }
  }
  return count
}
feed()
print(await eat())
exit(0)
