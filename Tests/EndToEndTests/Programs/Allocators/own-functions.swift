// What the allocators offer under names of their own, called directly: -D picks which. Objects held only from such blocks are
// alive, also after they were moved; one for each freed block is not.
// EXPECT leak kind=unreferenced types=App.Lost count=5 at=lose
import Foundation

#if JEMALLOC
  @_silgen_name("mallocx") func makeBlock(_ size: Int, _ flags: Int32) -> UnsafeMutableRawPointer?
  @_silgen_name("rallocx") func moveBlock(_ old: UnsafeMutableRawPointer, _ size: Int, _ flags: Int32)
    -> UnsafeMutableRawPointer?
  @_silgen_name("dallocx") func endBlock(_ old: UnsafeMutableRawPointer, _ flags: Int32)
  @_silgen_name("sdallocx") func endSized(_ old: UnsafeMutableRawPointer, _ size: Int, _ flags: Int32)
  func make(_ size: Int) -> UnsafeMutableRawPointer { makeBlock(size, 0)! }
  func move(_ block: UnsafeMutableRawPointer, _ size: Int) -> UnsafeMutableRawPointer { moveBlock(block, size, 0)! }
  func end(_ block: UnsafeMutableRawPointer, _ size: Int) {
    size % 2 == 0 ? endBlock(block, 0) : endSized(block, size, 0)
  }
#else
  @_silgen_name("mi_malloc") func makeBlock(_ size: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("mi_zalloc") func makeZeroed(_ size: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("mi_realloc") func moveBlock(_ old: UnsafeMutableRawPointer, _ size: Int) -> UnsafeMutableRawPointer?
  @_silgen_name("mi_free") func endBlock(_ old: UnsafeMutableRawPointer)
  @_silgen_name("mi_free_size") func endSized(_ old: UnsafeMutableRawPointer, _ size: Int)
  func make(_ size: Int) -> UnsafeMutableRawPointer { (size % 2 == 0 ? makeBlock(size) : makeZeroed(size))! }
  func move(_ block: UnsafeMutableRawPointer, _ size: Int) -> UnsafeMutableRawPointer { moveBlock(block, size)! }
  func end(_ block: UnsafeMutableRawPointer, _ size: Int) { size % 2 == 0 ? endBlock(block) : endSized(block, size) }
#endif

final class Held { let number = 7 }
final class Lost { let number = 8 }

@inline(never) func lose(_ size: Int) {
  let block = make(size)
  block.storeBytes(of: Unmanaged.passRetained(Lost()).toOpaque(), as: UnsafeMutableRawPointer.self)  // @lose
  end(block, size)
}

@inline(never) func clear(_ depth: Int) -> Int {
  var numbers = (depth, depth &* 3, depth &* 5, depth &* 7)
  return depth == 0 ? 0 : withUnsafeBytes(of: &numbers) { Int($0[3]) } + clear(depth - 1)
}

nonisolated(unsafe) var kept: [UnsafeMutableRawPointer] = []
for size in [8, 9, 24, 100, 5001, 70_000] {
  var block = make(size)
  block.storeBytes(of: Unmanaged.passRetained(Held()).toOpaque(), as: UnsafeMutableRawPointer.self)
  block = move(block, size * 3)
  kept.append(block)
}
for size in [8, 33, 100, 5001, 70_000] { lose(size) }
_ = clear(100)
for block in kept {
  let held = Unmanaged<Held>.fromOpaque(block.load(as: UnsafeMutableRawPointer.self)).takeUnretainedValue()
  if held.number != 7 { exit(3) }
}
print("well")
