// The program allows itself to read, write and exit.
// EXPECT unchecked
import Glibc

final class Node {
  var next: Node?
}
@_silgen_name("prctl") func control(_ option: Int32, _ first: UInt, _ second: UInt, _ third: UInt, _ last: UInt)
  -> Int32
@_silgen_name("syscall") func systemCall(_ number: Int, _ first: UInt, _ second: UInt, _ third: UInt) -> Int

var nodes = (0..<1000).map { _ in Node() }
print(nodes.count)
fflush(stdout)
_ = control(22, 1, 0, 0, 0)
nodes.removeLast(500)
nodes.append(Node())
_ = write(1, "strict\n", 7)
_ = systemCall(60, 0, 0, 0)
