// Memory with references that are nobody's any more.
import Foundation

// Disguised, so that the list holds nothing.
@inline(never) func addressesOfLeakedCycles(_ count: Int) -> [UInt] {
  (0..<count).map { _ in
    let node = Node()
    node.next = node
    return ~UInt(bitPattern: Unmanaged.passUnretained(node).toOpaque())
  }
}

nonisolated(unsafe) var keptBlocks: [UnsafeMutableRawPointer] = []
nonisolated(unsafe) var keptTexts: [String] = []

@inline(never) func fill(_ memory: UnsafeMutableRawPointer, _ bytes: Int, _ disguised: [UInt]) {
  let words = memory.bindMemory(to: UInt.self, capacity: bytes / 8)
  for word in 0..<bytes / 8 { words[word] = ~disguised[word % disguised.count] }
}

// Fills memory with references, gives it back, gets it again and keeps it as it is.
@inline(never) func recycleMemory(_ disguised: [UInt]) {
  for size in [24, 40, 120, 1000, 1100, 5000, 100_000] {
    let blocks = (0..<40).map { _ in malloc(size)! }
    for block in blocks { fill(block, size, disguised) }
    for block in blocks { free(block) }
    for index in 0..<40 { keptBlocks.append(index % 4 == 0 ? realloc(malloc(24)!, size)! : malloc(size)!) }
  }
  var aligned: UnsafeMutableRawPointer?
  let block = malloc(2000)!
  fill(block, 2000, disguised)
  free(block)
  if posix_memalign(&aligned, 64, 1900) == 0 { keptBlocks.append(aligned!) }
}

/// Gives back memory that is full of references, and leaves it where the thread keeps it.
@inline(never) func leaveInCache(_ disguised: [UInt]) {
  for size in [120, 1000] {
    let blocks = (0..<5).map { _ in malloc(size)! }
    for block in blocks { fill(block, size, disguised) }
    for block in blocks { free(block) }
  }
}

/// A thread ends and leaves free chunks to the next one: `long` such of 1024 bytes, which are handed out whole for blocks of 1000, else
/// more of the sizes that are asked for than a cache keeps.
@inline(never) func leaveChunks(long: Bool) {
  let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { long in
    let blocks = (0..<40).map { _ in (malloc(long == nil ? 1000 : 1010)!, malloc(24)!, malloc(40)!) }
    for (block, small, _) in blocks {
      free(block)
      if long == nil { free(small) }
    }
    return nil
  }
  var thread = pthread_t()
  pthread_create(&thread, nil, body, long ? UnsafeMutableRawPointer(bitPattern: 1) : nil)
  pthread_join(thread, nil)
}

/// Scans while a thread that ends gives back blocks, of as many as its cache may keep of each size, that are full of references.
@inline(never) func scanBesideEndingThread(
  _ disguised: [UInt], ofEachSize count: Int, waits: Bool = false, inCopy copy: Bool
) {
  var blocks: [UnsafeMutableRawPointer?] = []
  if waits { blocks = Array(repeating: nil, count: 16 * count) }
  for size in stride(from: 136, to: 392, by: 16) where !waits {
    for _ in 0..<count {
      let block = malloc(size)!
      fill(block, size, disguised)
      blocks.append(block)
    }
  }
  let thread = start_ending_thread(&blocks, blocks.count, waits)
  report(scan_now(copy, false, nil))
  if !waits { pthread_join(thread, nil) }
}

// Live strings: with breadcrumbs, and with references in the capacity that they do not use.
@inline(never) func keepTexts(_ disguised: [UInt]) {
  for index in 0..<100 {
    let text = String(repeating: "\u{e9}", count: 100 + index)
    sink(text.utf16.index(text.utf16.startIndex, offsetBy: 90))
    keptTexts.append(text)
  }
  for _ in 0..<10 {
    keptTexts.append(
      String(unsafeUninitializedCapacity: 800) { buffer in
        fill(UnsafeMutableRawPointer(buffer.baseAddress!), 800, disguised)
        for index in 0..<100 { buffer[index] = 0x41 }
        return 100
      })
  }
}
