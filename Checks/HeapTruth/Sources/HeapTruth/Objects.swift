import CHeapTruth

/// An object whose fate is known.
class Tracked: @unchecked Sendable {
  private(set) var id: Int32 = 0
  /// Set to itself in order to leak.
  var ring: AnyObject?

  init(isHolder: Bool = false, kind: Int16 = -1) {
    id = Truth.born(Unmanaged.passUnretained(self).toOpaque(), isHolder: isHolder, kind: kind)
  }

  deinit { Truth.died(id) }

  /// In a cycle it is alive as long as somebody else owns it, too.
  @inline(never) func beCyclic() {
    Truth.setCyclic(id, true)
    ring = self
  }
  @inline(never) func ceaseToBeCyclic() {
    ring = nil
    Truth.setCyclic(id, false)
  }
}

/// What holders hold; it may have a holder of its own.
class Node: Tracked, Hashable, @unchecked Sendable {
  var child: Holder?
  weak var friend: Node?

  init() { super.init() }

  static func == (left: Node, right: Node) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

class WideNode: Node, @unchecked Sendable {
  var first = (1, 2, 3, 4, 5, 6, 7, 8)
  var text = "a text that is too long to be stored in the string itself"
}

final class GenericNode<Value>: Node, @unchecked Sendable {
  var value: Value
  init(_ value: Value) { self.value = value }
}

/// One way of holding nodes. A holder is used by one thread at a time.
class Holder: Tracked, @unchecked Sendable {
  let kind: Int16

  init() {
    kind = Int16(truth_kind_in_making())
    super.init(isHolder: true, kind: kind)
  }

  deinit { Choice.ended(kind) }

  /// Takes the node over; false if there is no room.
  func put(_ node: Node) -> Bool { false }
  /// Gives a node back, or nil if there is none.
  func take() -> Node? { nil }
  /// Something that changes how, but not what it holds.
  func churn() {}
}
