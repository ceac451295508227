// A list of two hundred thousand nodes below one lost object.
// EXPECT leak kind=unreferenced types=App.Node count=1
final class Node {
  var next: Node?
  init(_ next: Node?) { self.next = next }
}
@inline(never) @_optimize(none) func send(_ pointer: UnsafeMutableRawPointer) {}

@inline(never) func make() {
  var head: Node?
  for _ in 0..<200_000 { head = Node(head) }
  send(Unmanaged.passRetained(head!).toOpaque())
}
make()
