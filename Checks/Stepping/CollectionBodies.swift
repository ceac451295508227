// Bodies whose cycles lead through collections, while these change.
import CStepping
import Foundation

@Sendable func arrayOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.list = [node, node]
  call()
  node.list.append(node)
  call()
  node.list.insert(node, at: 1)
  node.list.swapAt(0, 2)
  call()
  let last = node.list.removeLast()
  call()
  node.list.removeAll { $0 === last }
  call()
  return node.list.count
}
@Sendable func arrayInPlace(_ value: Int) -> Int {
  var nodes = [makeLoop(1), makeLoop(2), makeLoop(3)]
  nodes[1].next = nodes[2]
  nodes[2].next = nodes[1]
  call()
  nodes.withUnsafeMutableBufferPointer { buffer in
    call()
    buffer.swapAt(0, 1)
    call()
  }
  nodes.sort {
    call()
    return $0.value > $1.value
  }
  for node in nodes {
    call()
    node.next = nil
  }
  return nodes.count
}
@Sendable func arrayRemovals(_ value: Int) -> Int {
  var nodes = (0..<6).map(makeLoop)
  nodes.removeSubrange(1..<3) { $0.next = nil }
  call()
  nodes.reverse()
  let popped = nodes.popLast()
  call()
  popped?.next = nil
  nodes.replaceSubrange(0..<1, with: [makeLoop(7), nodes[0]])
  call()
  let copy = nodes
  nodes.append(makeLoop(8))
  call()
  for node in copy { node.next = nil }
  call()
  nodes.last?.next = nil
  return nodes.count
}
extension Array where Element == Node {
  @inline(never) mutating func removeSubrange(_ range: Range<Int>, _ end: (Node) -> Void) {
    for index in range {
      call()
      end(self[index])
    }
    removeSubrange(range)
    call()
  }
}
@Sendable func tableOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.table[1] = node
  call()
  node.table[2] = node
  node.table[1]?.value += 1
  call()
  node.table[3, default: node].value += 1
  node.table[2] = nil
  call()
  let values = node.table.mapValues { $0.value }
  node.table.removeAll()
  call()
  return values.count
}
@Sendable func keysThatWait(_ value: Int) -> Int {
  let node = Node(value)
  var table = [node: node]
  node.table = [1: node]
  for number in 0..<4 {
    let other = Node(number)
    other.next = node
    table[other] = other
    call()
  }
  table[node] = nil
  call()
  let sum = table.keys.reduce(0) { $0 + $1.value }
  node.table = [:]
  return sum
}
@Sendable func reservesForKeysThatWait(_ value: Int) -> Int {
  @inline(never) func grow(_ table: inout [Node: Int]) {
    var native = table
    native.reserveCapacity(native.capacity + 20)
    table = native
  }
  var table = [Node(1): 1, Node(2): 2]
  let node = Node(value)
  node.next = node
  grow(&table)
  let sum = node.value
  let other = Node(value)
  other.next = other
  table.reserveCapacity(60)
  node.next = nil
  other.next = nil
  return sum + other.value + table.count
}
@Sendable func setOfItself(_ value: Int) -> Int {
  let node = Node(value)
  node.members = [node]
  call()
  for number in 1..<5 { node.members.insert(Node(number)) }
  call()
  let others = node.members.subtracting([node])
  call()
  node.members.remove(node)
  node.members.formUnion(others)
  return node.members.count + others.count
}
@Sendable func subscripts(_ value: Int) -> Int {
  @inline(never) func change(_ node: inout Node) -> Int {
    call()
    let old = node
    node = makeLoop(9)
    call()
    old.next = nil
    return old.value
  }
  var nodes = [makeLoop(1), makeLoop(2)]
  var table = [1: makeLoop(3)]
  var sum = change(&nodes[1]) + change(&table[1]!)
  call()
  for node in nodes { node.next = nil }
  sum += table[1]!.value
  table[1]!.next = nil
  return sum
}
@Sendable func deinitsInCollections(_ value: Int) -> Int {
  var mourners = (0..<3).map { Mourner(makeLoop($0)) }
  mourners.remove(at: 1)
  call()
  mourners[0] = Mourner(makeLoop(value))
  mourners.removeAll()
  call()
  var table = [1: Mourner(makeLoop(1)), 2: Mourner(makeLoop(2))]
  table[1] = nil
  table[2] = Mourner(makeLoop(3))
  return table.count
}
@Sendable func strings(_ value: Int) -> Int {
  let node = makeLoop(value)
  node.text = "a text that is too long for a small one: \(value)"
  call()
  var text = node.text
  text += String(repeating: "x", count: 40)
  call()
  node.text = text
  node.next = nil
  return text.utf8.count
}
@Sendable func sequences(_ value: Int) -> Int {
  let nodes = (0..<4).lazy.map { (number: Int) -> Node in
    call()
    return makeLoop(number)
  }
  var iterator = nodes.makeIterator()
  var kept: [Node] = []
  while let node = iterator.next() {
    call()
    kept.append(node)
  }
  let sums = zip(kept, kept.dropFirst()).map { pair in
    call()
    return pair.0.value + pair.1.value
  }
  for node in kept { node.next = nil }
  return sums.count
}
@Sendable func sortsAndSearches(_ value: Int) -> Int {
  let nodes = (0..<5).map { makeLoop(5 - $0) }
  let sorted = nodes.sorted {
    call()
    return $0.value < $1.value
  }
  let first = sorted.first { use($0) > 2 }
  let groups = Dictionary(grouping: sorted) { use($0) % 2 }
  call()
  for node in nodes { node.next = nil }
  return groups.count + (first?.value ?? 0)
}

let collectionBodies: [(name: String, run: @Sendable (Int) -> Int)] = [
  ("arrayOfItself", arrayOfItself), ("arrayInPlace", arrayInPlace), ("arrayRemovals", arrayRemovals),
  ("tableOfItself", tableOfItself), ("keysThatWait", keysThatWait),
  ("reservesForKeysThatWait", reservesForKeysThatWait), ("setOfItself", setOfItself), ("subscripts", subscripts),
  ("deinitsInCollections", deinitsInCollections), ("strings", strings), ("sequences", sequences),
  ("sortsAndSearches", sortsAndSearches),
]
