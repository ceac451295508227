// source: swiftlang/swift-corelibs-foundation 7d1f464b2
// The result of a C function that returns an owned reference was cast instead of taken, and so retained once more.
// expect: leak Node in parse

enum FoundationPropertyList: LeakCase {
  final class Node {
    var children: [Node] = []
    var text = ""
  }

  @inline(never) static func parse(_ text: String) -> Unmanaged<Node> {
    let node = Node()
    node.text = text
    node.children = [Node(), Node()]
    return .passRetained(node)
  }

  @inline(never) static func propertyList(from text: String) -> Node {
    #if FIXED
      return parse(text).takeRetainedValue()
    #else
      return parse(text).takeUnretainedValue()
    #endif
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { precondition(propertyList(from: "\(round)").children.count == 2) }
  }
}
