// A block of nine gigabytes, of which a few pages are in use, that only a pointer into its middle holds: none of the 4 GiB around
// that place has the start of a block.
// EXPECT silent
final class Held {
  var number = 1
}
nonisolated(unsafe) var middle: UnsafeMutablePointer<Held>?

@inline(never) func make() {
  let bytes = 9 << 30
  let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
  middle = (block + bytes / 2).bindMemory(to: Held.self, capacity: 1)
  middle!.initialize(to: Held())
}
make()
print("made")
