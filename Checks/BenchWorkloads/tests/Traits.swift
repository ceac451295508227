// The same with Swift Testing: a case is a test.
import Testing
import UndeadTesting

final class Tree {
  var parts: [Tree] = []

  static func made() -> Tree {
    let tree = Tree()
    tree.parts = (0..<10).map { _ in Tree() }
    return tree
  }
}

@Suite(.serialized) struct Traits {
  nonisolated(unsafe) private static var cache: [Tree] = []

  @Test(.noLeaks, arguments: 0..<500) func local(_: Int) { #expect(Tree.made().parts.count == 10) }

  @Test(.noLeaks, arguments: 0..<200) func cached(_: Int) {
    Self.cache.append(Tree.made())
    #expect(Self.cache.last?.parts.count == 10)
  }
}
