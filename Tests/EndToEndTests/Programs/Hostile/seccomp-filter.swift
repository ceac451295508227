// The program forbids itself to trace others, on pain of death.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=2
import Glibc

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
@_silgen_name("prctl") func control(_ option: Int32, _ first: UInt, _ second: UInt, _ third: UInt, _ last: UInt)
  -> Int32
struct Instruction {
  var code: UInt16
  var ifTrue: UInt8 = 0
  var ifFalse: UInt8 = 0
  var value: UInt32
}
struct Filter {
  var length: UInt16
  var instructions: UnsafeMutablePointer<Instruction>
}
let (traceCall, kill, allow): (UInt32, UInt32, UInt32) = (101, 0x8000_0000, 0x7fff_0000)
var instructions = [
  Instruction(code: 0x20, value: 0), Instruction(code: 0x15, ifTrue: 0, ifFalse: 1, value: traceCall),
  Instruction(code: 0x06, value: kill), Instruction(code: 0x06, value: allow),
]
for _ in 0..<2 { make() }
instructions.withUnsafeMutableBufferPointer { buffer in
  var filter = Filter(length: UInt16(buffer.count), instructions: buffer.baseAddress!)
  _ = control(38, 1, 0, 0, 0)
  print(control(22, 2, UInt(bitPattern: withUnsafeMutablePointer(to: &filter) { Int(bitPattern: $0) }), 0, 0))
}
