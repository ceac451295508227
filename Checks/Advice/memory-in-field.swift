// Memory taken by hand that holds the owner of the pointer.
// KEPT BY the memory
// ADVICE `next` of App.Node points to memory that holds
// FIX deinitialize and deallocate it when the owner is done
final class Node {
  private var next: UnsafeMutablePointer<Node>?
  func start() {
    next = .allocate(capacity: 1)
    next?.initialize(to: self)
  }
  func stop() {
    next?.deinitialize(count: 1)
    next?.deallocate()
    next = nil
  }
}
@inline(never) func run() {
  let node = Node()
  node.start()
  #if FIXED
    node.stop()
  #endif
}
run()
