// Fibers whose stacks only a jump buffer names: the C library hides the addresses in it.
// EXPECT silent
import Glibc

final class Node {
  var own: Node?
}
@_silgen_name("getcontext") func getContext(_ context: UnsafeMutableRawPointer) -> Int32
@_silgen_name("makecontext") func makeContext(
  _ context: UnsafeMutableRawPointer, _ function: @convention(c) () -> Void, _ count: Int32)
@_silgen_name("swapcontext") func swapContext(_ from: UnsafeMutableRawPointer, _ to: UnsafeMutableRawPointer) -> Int32
@_silgen_name("_setjmp") func setJump(_ buffer: UnsafeMutableRawPointer) -> Int32

let stackBytes = 32 * 1024
let jumpBytes = 256
let contextBytes = 4096
// Places for two contexts: of a fiber and of who runs it.
let contexts = UnsafeMutableRawPointer.allocate(byteCount: 2 * contextBytes, alignment: 64)
let jumps = UnsafeMutableRawPointer.allocate(byteCount: 32 * jumpBytes, alignment: 64)
nonisolated(unsafe) var current = 0

@inline(never) func start() {
  let stack = UnsafeMutableRawPointer.allocate(byteCount: stackBytes, alignment: 16)
  _ = getContext(contexts)
  contexts.storeBytes(of: nil, toByteOffset: 8, as: UnsafeMutableRawPointer?.self)
  contexts.storeBytes(of: stack, toByteOffset: 16, as: UnsafeMutableRawPointer.self)
  contexts.storeBytes(of: stackBytes, toByteOffset: 32, as: Int.self)
  makeContext(
    contexts,
    {
      let node = Node()
      node.own = node
      withExtendedLifetime(node) {
        _ = setJump(jumps + jumpBytes * current)
        _ = swapContext(contexts, contexts + contextBytes)
      }
    }, 0)
  _ = swapContext(contexts + contextBytes, contexts)
  memset(contexts, 0, 2 * contextBytes)
}
for index in 0..<32 {
  current = index
  start()
}
exit(0)
