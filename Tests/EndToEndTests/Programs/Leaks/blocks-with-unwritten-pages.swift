// Large blocks of which few pages were written: references on the first, the last, and on lone pages, and over the border of two.
// The cycles are leaks. Nothing of what the blocks refer to is one.
// EXPECT leak kind=retainCycle types=App.Sheet fields=other count=10
import Glibc

final class Sheet {
  var other: Sheet?
}
final class Kept {}

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

nonisolated(unsafe) var blocks: [UnsafeMutableRawPointer] = []

@inline(never) func fill() {
  let bytes = 1 << 30
  let page = 4096
  let places = [64, page * 1000 + 8, page * 5000 - 8, page * 9000 - 4, bytes / 2, bytes - 8]
  for block in [malloc(bytes)!, calloc(bytes / 8, 8)!] {
    blocks.append(block)
    for place in places {
      let kept = Unmanaged.passRetained(Kept()).toOpaque()
      block.storeBytes(of: kept, toByteOffset: place, as: UnsafeMutableRawPointer.self)
    }
  }
}

@inline(never) func leak() {
  let a = Sheet()
  let b = Sheet()
  (a.other, b.other) = (b, a)
  use(a)
}

fill()
for _ in 0..<10 { leak() }
