// Elements that only the buffer of a stream holds, even where they go around the end of its storage or are being added.
// EXPECT silent
import Foundation

final class Payload {
  var value: Int
  init(_ value: Int) { self.value = value }
}
nonisolated(unsafe) let streams = (0..<20).map { _ in AsyncStream.makeStream(of: Payload.self) }
nonisolated(unsafe) let strings = AsyncStream.makeStream(of: (Int32, Payload, String).self)
nonisolated(unsafe) let throwing = AsyncThrowingStream.makeStream(of: Payload.self)

@inline(never) func feed(_ count: Int, _ index: Int) {
  for value in 0..<count { streams[index].continuation.yield(Payload(value)) }
}
@inline(never) func eat(_ count: Int, _ index: Int) async -> Int {
  var left = count
  var sum = 0
  for await payload in streams[index].stream {
    sum += payload.value
    left -= 1
    if left == 0 { break }
  }
  return sum
}
var sum = 0
for index in streams.indices {
  feed(8 + index, index)
  sum += await eat(5 + index / 2, index)
  feed(4 + index / 3, index)
}
for index in 0..<9 {
  strings.continuation.yield((Int32(index), Payload(index), String(repeating: "text", count: 10)))
  throwing.continuation.yield(Payload(index))
}
let feeder = Thread {
  while true {
    feed(30, 19)
    usleep(50)
  }
}
feeder.start()
usleep(20_000)
print(sum)
exit(0)
