// Every function of malloc's family, from several threads and in a child: contents, alignment and sizes are what the
// allocator promises. What is held only from C memory is alive; one cycle for each function is not.
// EXPECT leak kind=retainCycle types=App.Ring fields=next count=8 at=abandon
import Foundation

@_silgen_name("malloc_usable_size") func usableSize(_ block: UnsafeMutableRawPointer) -> Int
@_silgen_name("memalign") func memoryAligned(_ alignment: Int, _ size: Int) -> UnsafeMutableRawPointer?

final class Ring {
  var next: Ring?
}

final class Held {
  let number: Int
  init(_ number: Int) { self.number = number }
}

@inline(never) @_optimize(none) func abandon() {
  let ring = Ring()  // @abandon
  ring.next = ring
}

func fail(_ text: String) -> Never {
  print("wrong: \(text)")
  exit(3)
}

/// A block with all of its bytes set, the first word an object that nothing else holds.
@inline(never) func fill(_ block: UnsafeMutableRawPointer?, _ size: Int, _ alignment: Int) -> UnsafeMutableRawPointer {
  guard let block else { fail("no memory") }
  if Int(bitPattern: block) % alignment != 0 { fail("alignment \(alignment) of \(size)") }
  if usableSize(block) < size { fail("size \(size)") }
  memset(block, 0x5A, size)
  if size >= 8 { block.storeBytes(of: Unmanaged.passRetained(Held(size)).toOpaque(), as: UnsafeMutableRawPointer.self) }
  return block
}

@inline(never) func check(_ block: UnsafeMutableRawPointer, _ size: Int, _ number: Int) {
  for offset in stride(from: 8, to: size, by: 1) where block.load(fromByteOffset: offset, as: UInt8.self) != 0x5A {
    fail("contents of \(size) at \(offset)")
  }
  guard size >= 8 else { return }
  let held = Unmanaged<Held>.fromOpaque(block.load(as: UnsafeMutableRawPointer.self)).takeUnretainedValue()
  if held.number != number { fail("object of \(size)") }
}

let sizes = [0, 1, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 100, 1000, 1033, 4096, 5000, 40_000, 300_000]

@inline(never) func work(_ keep: inout [(UnsafeMutableRawPointer, Int, Int)]) {
  for size in sizes {
    keep.append((fill(malloc(size), size, size < 16 ? 8 : 16), size, size))
    guard let zeroed = calloc(size, 1) else { fail("no memory") }
    for offset in 0..<size where zeroed.load(fromByteOffset: offset, as: UInt8.self) != 0 { fail("calloc \(size)") }
    keep.append((fill(zeroed, size, size < 16 ? 8 : 16), size, size))
    for alignment in [16, 64, 4096] {
      var block: UnsafeMutableRawPointer?
      if posix_memalign(&block, alignment, size) != 0 { fail("posix_memalign") }
      keep.append((fill(block, size, alignment), size, size))
      keep.append((fill(memoryAligned(alignment, size), size, alignment), size, size))
      if size % alignment == 0, size > 0 {
        keep.append((fill(aligned_alloc(alignment, size), size, alignment), size, size))
      }
    }
  }
  for index in stride(from: 0, to: keep.count, by: 3) where keep[index].1 >= 8 {
    let (block, size, number) = keep[index]
    check(block, size, number)
    guard let larger = realloc(block, size * 2 + 5) else { fail("realloc") }
    check(larger, size, number)
    guard let smaller = realloc(larger, max(8, size / 2)) else { fail("realloc") }
    keep[index] = (smaller, max(8, size / 2), number)
    check(smaller, max(8, size / 2), number)
  }
  // Freed and made again, so that free memory is full of addresses.
  for round in 0..<200 {
    let blocks = sizes.prefix(17).map { fill(malloc($0), $0, 8) }
    for (block, size) in zip(blocks, sizes) {
      if size >= 8 { Unmanaged<Held>.fromOpaque(block.load(as: UnsafeMutableRawPointer.self)).release() }
      free(block)
    }
    if round % 25 == 0 { abandon() }
  }
  free(nil)
}

nonisolated(unsafe) var kept: UnsafeMutablePointer<(UnsafeMutableRawPointer, Int, Int)>?
var all: [(UnsafeMutableRawPointer, Int, Int)] = []
let threads = (0..<3).map { number in
  Thread {
    var blocks: [(UnsafeMutableRawPointer, Int, Int)] = []
    for _ in 0..<2000 {
      let size = Int.random(in: 8...600)
      blocks.append((fill(malloc(size), size, 8), size, size))
      if blocks.count > 100 {
        let (block, size, number) = blocks.remove(at: Int.random(in: 0..<blocks.count))
        check(block, size, number)
        Unmanaged<Held>.fromOpaque(block.load(as: UnsafeMutableRawPointer.self)).release()
        free(block)
      }
    }
    for (block, _, _) in blocks {
      Unmanaged<Held>.fromOpaque(block.load(as: UnsafeMutableRawPointer.self)).release()
      free(block)
    }
  }
}
for thread in threads { thread.start() }
work(&all)
kept = .allocate(capacity: all.count)
kept?.initialize(from: all, count: all.count)
let count = all.count
all = []
while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
for index in 0..<count { check(kept![index].0, kept![index].1, kept![index].2) }

// A child that goes on with its copy of the heap.
let process = Process()
process.executableURL = URL(fileURLWithPath: "/bin/true")
try process.run()
process.waitUntilExit()
print("well")
