// Objects that a fiber has stored behind the count of a collection, which it changes at the end. Its stack is of malloc, mmap, an array
// or a variable.
// EXPECT silent
import Glibc

final class Node {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@_silgen_name("getcontext") func getContext(_ context: UnsafeMutableRawPointer) -> Int32
@_silgen_name("makecontext") func makeContext(
  _ context: UnsafeMutableRawPointer, _ function: @convention(c) () -> Void, _ count: Int32)
@_silgen_name("swapcontext") func swapContext(_ from: UnsafeMutableRawPointer, _ to: UnsafeMutableRawPointer) -> Int32

/// For each fiber two contexts: its own and that of who runs it.
nonisolated(unsafe) var contexts: [UnsafeMutableRawPointer] = []
@inline(never) func leave() { _ = swapContext(contexts[contexts.count - 1], contexts[contexts.count - 1] + 2048) }

/// A new node, from the fourth call on of a fiber that has left in between.
struct Nodes: Sequence, IteratorProtocol {
  var left = 5
  var underestimatedCount: Int { left }
  mutating func next() -> Node? {
    if left == 0 { return nil }
    left -= 1
    return make(left)
  }
}
@inline(never) func make(_ number: Int) -> Node {
  if number == 1 { leave() }
  return Node(number)
}

let bytes = 64 * 1024
typealias Room = InlineArray<8192, UInt64>
nonisolated(unsafe) var room = Room(repeating: 0)
nonisolated(unsafe) var words = [UInt64](repeating: 0, count: 8192)
let stacks: [() -> UnsafeMutableRawPointer] = [
  { malloc(bytes)! },
  { mmap(nil, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)! },
]
let typedStacks: [() -> UnsafeMutableRawPointer] = [
  { withUnsafeMutableBytes(of: &room) { $0.baseAddress! } },
  { words.withUnsafeMutableBytes { $0.baseAddress! } },
]
func start(_ stack: UnsafeMutableRawPointer, _ work: @convention(c) () -> Void) {
  let fiber = UnsafeMutableRawPointer.allocate(byteCount: 4096, alignment: 64)
  contexts.append(fiber)
  _ = getContext(fiber)
  fiber.storeBytes(of: nil, toByteOffset: 8, as: UnsafeMutableRawPointer?.self)
  fiber.storeBytes(of: stack, toByteOffset: 16, as: UnsafeMutableRawPointer.self)
  fiber.storeBytes(of: bytes, toByteOffset: 32, as: Int.self)
  makeContext(fiber, work, 0)
  _ = swapContext(fiber + 2048, fiber)
}
@inline(never) func use(_ nodes: some Collection<Node>) {
  leave()
  print(nodes.map(\.number))
}
let works: [@convention(c) () -> Void] = [
  {
    var nodes: [Node] = []
    nodes.append(contentsOf: Nodes())
    use(nodes)
  },
  {
    var nodes: ContiguousArray = [Node(7)]
    nodes.reserveCapacity(20)
    nodes += Nodes()
    use(nodes)
  },
  { use(Array(Nodes())) },
  { use((0..<5).map { make(4 - $0) }) },
  { use(Array(Nodes().lazy.filter { $0.number < 10 })) },
  {
    var nodes = (0..<4).map { Node(7 + $0) }
    nodes.replaceSubrange(1..<3, with: (0..<5).lazy.map { make(4 - $0) })
    use(nodes)
  },
  {
    use(
      [Node](unsafeUninitializedCapacity: 5) { buffer, count in
        for index in 0..<5 { (buffer.baseAddress! + index).initialize(to: make(4 - index)) }
        count = 5
      })
  },
]
for work in works {
  for stack in stacks { start(stack(), work) }
}
for (stack, work) in zip(typedStacks, works) { start(stack(), work) }
print("held")
exit(0)
