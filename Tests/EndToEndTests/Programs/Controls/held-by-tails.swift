// Elements of tails of the program's own, some of which are in use: cycles, values of several words, and owners of the tails.
// EXPECT silent
final class Node {
  var next: Node?
  var tail: AnyObject?
  var text = "a text that is too long to be kept in place, number \(Int.random(in: 0..<10))"
}
enum Slot {
  case empty
  case one(Node)
  case many([Node], Int)
}
final class Nodes: ManagedBuffer<Int, Node> {
  deinit { _ = withUnsafeMutablePointers { count, elements in elements.deinitialize(count: count.pointee) } }
}
final class Slots: ManagedBuffer<(Node, Int), Slot> {}
final class Pairs: ManagedBuffer<UInt8, (key: Int, value: Node?, text: String)> {}
nonisolated(unsafe) var kept: [AnyObject] = []

func makeCycle() -> Node {
  let node = Node()
  node.next = Node()
  node.next?.next = node
  return node
}
@inline(never) func nodes() {
  let buffer = Nodes.create(minimumCapacity: 16) { _ in 0 }
  buffer.withUnsafeMutablePointers { count, elements in
    for index in 0..<10 { (elements + index).initialize(to: makeCycle()) }
    for index in 5..<10 {
      let node = (elements + index).move()
      node.next?.next = nil
    }
    count.pointee = 5
  }
  kept.append(buffer)
}
@inline(never) func slots() {
  let buffer = Slots.create(minimumCapacity: 8) { _ in (makeCycle(), 8) }
  buffer.withUnsafeMutablePointerToElements { elements in
    for index in 0..<8 {
      (elements + index).initialize(
        to: index % 3 == 0 ? .empty : index % 3 == 1 ? .one(makeCycle()) : .many([makeCycle()], index))
    }
  }
  kept.append(buffer)
}
@inline(never) func pairs() {
  let buffer = Pairs.create(minimumCapacity: 4) { _ in 4 }
  let owner = makeCycle()
  buffer.withUnsafeMutablePointerToElements { elements in
    for index in 0..<4 {
      (elements + index).initialize(to: (index, index == 2 ? nil : owner, "also a text that needs storage, \(index)"))
    }
  }
  owner.tail = buffer
  kept.append(owner)
}
nodes()
slots()
pairs()
print(kept.count)
