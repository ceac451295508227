// The program wants all of its memory, also what it maps later, in memory at once: that is its own, and not ours.
// EXPECT leak kind=retainCycle types=App.Node fields=next count=4
import Glibc

final class Node {
  var next: Node?
  var numbers = [Int](repeating: 7, count: 20)
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}
func megabytes(_ name: String) -> Int {
  guard let file = fopen("/proc/self/status", "r") else { return 0 }
  defer { fclose(file) }
  var line = [CChar](repeating: 0, count: 300)
  while fgets(&line, 300, file) != nil {
    let text = String(cString: line)
    if text.hasPrefix(name) { return Int(text.split { $0 == " " || $0 == "\t" }[1])! / 1024 }
  }
  return 0
}
for _ in 0..<2 { make() }
_ = mlockall(Int32(MCL_CURRENT) | Int32(MCL_FUTURE))
print(megabytes("VmRSS") < 60, megabytes("VmLck") < 60)
let nodes = (0..<20_000).map { _ in Node() }
for _ in 0..<2 { make() }
print(nodes.count, megabytes("VmRSS") < 80, megabytes("VmLck") < 80)
