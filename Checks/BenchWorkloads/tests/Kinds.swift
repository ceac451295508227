// Bodies of short tests, and classes whose tests scripts/measure/bench generates: one class a kind, one method a test.
import Foundation
import UndeadXCTest
import XCTest

/// One object with ten others.
final class Tree {
  var name = "tree"
  var parts: [Tree] = []

  static func made() -> Tree {
    let tree = Tree()
    tree.parts = (0..<10).map { _ in Tree() }
    return tree
  }
}

/// Reads and writes JSON, allocating without pause: about 0.3 ms.
private func readsAndWrites() throws {
  struct Item: Codable, Equatable {
    var id: Int
    var name: String
    var tags: [String]
  }
  let items = (0..<4).map { Item(id: $0, name: "item number \($0) of the list", tags: ["one", "two", "three"]) }
  let read = try JSONDecoder().decode([Item].self, from: JSONEncoder().encode(items))
  XCTAssertEqual(read, items)
}

class JSONKind: XCTestCase {
  func body() throws { try readsAndWrites() }
}

class LocalKind: XCTestCase {
  func body() { XCTAssertEqual(Tree.made().parts.count, 10) }
}

class AsyncKind: XCTestCase {
  func body() async {
    let count = await Task { Tree.made().parts.count }.value
    XCTAssertEqual(count, 10)
  }
}

class TearDownKind: XCTestCase {
  var tree: Tree?
  override func setUp() { tree = Tree.made() }
  override func tearDown() { tree = nil }
  func body() { XCTAssertEqual(tree?.parts.count, 10) }
}

class TrackedKind: XCTestCase {
  func body() {
    let tree = Tree.made()
    trackForMemoryLeaks(tree)
    XCTAssertEqual(tree.parts.count, 10)
  }
}

class ExpectationKind: XCTestCase {
  func body() {
    let expectation = expectation(description: "fulfilled")
    DispatchQueue.global().async { expectation.fulfill() }
    wait(for: [expectation], timeout: 10)
  }
}

class AssertionKind: XCTestCase {
  func body() { assertNoLeaks { XCTAssertEqual(Tree.made().parts.count, 10) } }
}

/// XCTest keeps its test cases, and so what their properties hold.
class PropertyKind: XCTestCase {
  var tree: Tree?
  override func setUp() { tree = Tree.made() }
  func body() { XCTAssertEqual(tree?.parts.count, 10) }
}

/// What one test made others may use: a cache.
class CacheKind: XCTestCase {
  nonisolated(unsafe) private static var cache: [Tree] = []
  func body() {
    Self.cache.append(Tree.made())
    XCTAssertEqual(Self.cache.last?.parts.count, 10)
  }
}
