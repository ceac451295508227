// The program hides /proc from itself, as some sandboxes do: no check is possible, and nothing else changes.
// EXPECT any
import Glibc

final class Node {
  var next: Node?
}
@_silgen_name("unshare") func unshare(_ flags: Int32) -> Int32

if unshare(0x2_0000) == 0 {
  _ = mount("none", "/", nil, 0x4_4000, nil)
  _ = umount2("/proc", 2)
}
let nodes = (0..<1000).map { _ in Node() }
print(nodes.count)
