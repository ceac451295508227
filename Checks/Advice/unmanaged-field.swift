// An `Unmanaged` field that was retained.
// KEPT BY the field, which no reference count ends
// ADVICE is an Unmanaged reference that was retained: call release() on it
// FIX `release()` when the object is done
final class Node { var next: Unmanaged<Node>? }
@inline(never) func run() {
  let node = Node()
  node.next = Unmanaged.passRetained(node)
  #if FIXED
    node.next?.release()
  #endif
}
run()
