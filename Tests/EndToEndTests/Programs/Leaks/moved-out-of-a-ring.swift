// A live ring of the program's own keeps the addresses of what was moved out of it.
// EXPECT leak kind=retainCycle types=App.Message fields=itself count=3
final class Message {
  var itself: Message?
}
struct Ring {
  final class Buffer: ManagedBuffer<(first: Int, count: Int), Message> {}
  let buffer = Buffer.create(minimumCapacity: 8) { _ in (0, 0) }
  func append(_ message: Message) {
    buffer.withUnsafeMutablePointers { header, elements in
      (elements + (header.pointee.first + header.pointee.count) % 8).initialize(to: message)
      header.pointee.count += 1
    }
  }
  func removeFirst() -> Message {
    buffer.withUnsafeMutablePointers { header, elements in
      let message = (elements + header.pointee.first).move()
      header.pointee.first = (header.pointee.first + 1) % 8
      header.pointee.count -= 1
      return message
    }
  }
}
nonisolated(unsafe) let ring = Ring()
@inline(never) @_optimize(none) func use(_ message: Message) {}
@inline(never) func fill() {
  for _ in 0..<3 {
    let message = Message()
    message.itself = message
    ring.append(message)
  }
}
@inline(never) func drain() {
  for _ in 0..<3 { use(ring.removeFirst()) }
}
fill()
drain()
