// leaked_objects SHAPE COUNT [FILE]: objects that nothing reaches; writes into FILE when it has made them.
#if canImport(Glibc)
  import Glibc
#endif

final class Node {
  var next: Node?
  var other: Node?
  var left: Node?
}

final class Holder {
  var items: [Node] = []
  var itself: Holder?
}

@inline(never) func chain(_ count: Int, doubly: Bool = false) -> (first: Node, last: Node) {
  let first = Node()
  var last = first
  for _ in 1..<count {
    let node = Node()
    last.next = node
    if doubly { node.other = last }
    last = node
  }
  return (first, last)
}

@inline(never) func tree(_ depth: Int) -> Node {
  let node = Node()
  if depth > 0 { (node.left, node.other) = (tree(depth - 1), tree(depth - 1)) }
  return node
}

@inline(never) func graph(_ count: Int) {
  let nodes = (0..<count).map { _ in Node() }
  var seed: UInt64 = 88_172_645_463_325_252
  func other() -> Node {
    seed ^= seed << 13
    seed ^= seed >> 7
    seed ^= seed << 17
    return nodes[Int(seed % UInt64(count))]
  }
  for (number, node) in nodes.enumerated() {
    (node.next, node.other, node.left) = (nodes[(number + 1) % count], other(), other())
  }
}

@inline(never) func leak(_ shape: String, _ count: Int) {
  switch shape {
  case "array":
    let holder = Holder()
    holder.itself = holder
    for _ in 0..<count { holder.items.append(Node()) }
  case "list": _ = Unmanaged.passRetained(chain(count).first)
  case "cycle":
    let (first, last) = chain(count)
    last.next = first
  case "double": _ = chain(count, doubly: true)
  case "pairs":
    for _ in 0..<count / 2 {
      let (first, last) = chain(2)
      last.next = first
    }
  case "tree": _ = Unmanaged.passRetained(tree(19))
  default: graph(count)
  }
}

let arguments = CommandLine.arguments
leak(arguments[1], Int(arguments[2]) ?? 1)
if arguments.count > 3, let file = fopen(arguments[3], "w") { fclose(file) }
