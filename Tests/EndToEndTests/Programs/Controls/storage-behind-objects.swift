// Headers and elements that lie behind the declared instance of a class of the program.
// EXPECT silent
final class Element { var value = 1 }
final class Storage {}
class Parent {}
final class Heir: Parent {}
struct Header {
  var first: Element
  var count: Int
}
nonisolated(unsafe) var kept: [AnyObject] = []

@inline(never) func make(_ storage: AnyClass, _ count: Int) {
  let buffer = ManagedBufferPointer<Header, Element>(bufferClass: storage, minimumCapacity: count) { _, _ in
    Header(first: Element(), count: count)
  }
  buffer.withUnsafeMutablePointerToElements { elements in
    for index in 0..<count { (elements + index).initialize(to: Element()) }
  }
  kept.append(buffer.buffer)
}
@inline(never) func makeSmall(_ count: Int) {
  let buffer = ManagedBufferPointer<Void, Element>(bufferClass: Storage.self, minimumCapacity: count) { _, _ in }
  buffer.withUnsafeMutablePointerToElements { elements in
    for index in 0..<count { (elements + index).initialize(to: Element()) }
  }
  kept.append(buffer.buffer)
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
for count in [0, 1, 2, 3, 4, 5, 8, 100, 5000, 100_000] {
  make(Storage.self, count)
  make(Heir.self, count)
  makeSmall(count)
}
scrub(20)
print(kept.count)
