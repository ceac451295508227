// Memory that begins with the metadata of a type: of a struct that is one reference, whose witnesses are those of objects, too.
// EXPECT silent
import Glibc

final class Item {}
struct Wrapper { let item: Item }
nonisolated(unsafe) var kept: [UnsafeMutableRawPointer] = []
for type in [
  Wrapper.self, Task<Void, Never>.self, Item.self, (Item, Item).self, (() -> Void).self, Item?.self, Any.self,
] as [Any.Type] {
  let memory = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
  memory.storeBytes(of: unsafeBitCast(type, to: UInt.self), as: UInt.self)
  kept.append(memory)
}
