// The last word of a freed block is nobody's, even where the block ends with a page.
// EXPECT leak kind=retainCycle types=App.Node fields=itself count=1 at=node
final class Node {
  var itself: Node?
}
nonisolated(unsafe) var kept: [UnsafeMutableRawPointer] = []

@inline(never) func makeNode() -> Unmanaged<Node> {
  let node = Node()  // @node
  node.itself = node
  return .passUnretained(node)
}
/// The last eight bytes lie behind the end of the chunk, in the first word of the next one.
@inline(never) func leaveInFreedBlock(_ address: UnsafeMutableRawPointer) {
  for attempt in 0..<4096 {
    // Blocks lie a multiple of 32 apart: the other multiples of 16, too.
    if attempt == 2048 { kept.append(.allocate(byteCount: 296, alignment: 16)) }
    let block = UnsafeMutableRawPointer.allocate(byteCount: 280, alignment: 16)
    guard (UInt(bitPattern: block) + 272) % 4096 == 0 else {
      kept.append(block)
      continue
    }
    block.storeBytes(of: address, toByteOffset: 272, as: UnsafeMutableRawPointer.self)
    block.deallocate()
    return
  }
  print("no block ends with a page")
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
@inline(never) func run() { leaveInFreedBlock(makeNode().toOpaque()) }
kept.reserveCapacity(4096)
run()
scrub(20)
print("done")
