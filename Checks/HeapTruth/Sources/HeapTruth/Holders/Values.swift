import Foundation
import Synchronization

// Nodes in existentials, closures, boxes and values of the library.

private protocol Named { var node: Node { get } }
private protocol NamedObject: AnyObject { var node: Node { get } }
private struct Small: Named { var node: Node }
private struct Large: Named {
  var first = 1
  var second = "text"
  var node: Node
  var third = 3.5
}
private final class Boxed: NamedObject, Named, @unchecked Sendable {
  let node: Node
  init(_ node: Node) { self.node = node }
}

private final class Existential: Holder, @unchecked Sendable {
  private var inline: (any Named)?
  private var boxed: (any Named)?
  private var object: (any NamedObject)?
  private var anything: Any?
  private var list: [Any] = []

  override func put(_ node: Node) -> Bool {
    if inline == nil {
      inline = Small(node: node)
    } else if boxed == nil {
      boxed = Large(node: node)
    } else if object == nil {
      object = Boxed(node)
    } else if anything == nil {
      anything = (1, node, "text")
    } else {
      list.append(list.count % 2 == 0 ? node as Any : Large(node: node) as Any)
    }
    return true
  }
  override func take() -> Node? {
    if let last = list.popLast() { return last as? Node ?? (last as? Large)?.node }
    if let value = anything.take() as? (Int, Node, String) { return value.1 }
    return object.take()?.node ?? boxed.take()?.node ?? inline.take()?.node
  }
}

private struct Failure: Error {
  var code = 1
  var node: Node
}

private final class Errors: Holder, @unchecked Sendable {
  private var error: (any Error)?
  private var result: Result<Int, any Error> = .success(1)

  override func put(_ node: Node) -> Bool {
    if error == nil {
      error = Failure(node: node)
    } else if case .success = result {
      result = .failure(Failure(node: node))
    } else {
      return false
    }
    return true
  }
  override func take() -> Node? {
    if let failure = error.take() as? Failure { return failure.node }
    guard case .failure(let failure as Failure) = result else { return nil }
    result = .success(2)
    return failure.node
  }
}

private final class Closures: Holder, @unchecked Sendable {
  private var single: (() -> Node)?
  private var several: ((Int) -> Node?)?
  private var list: [() -> Node] = []

  override func put(_ node: Node) -> Bool {
    if single == nil {
      single = { node }
    } else if several == nil {
      let (number, name) = (list.count, "name")
      weak let friend = node.friend
      several = { [unowned(unsafe) other = node] in
        number >= $0 && name != "" && friend !== other ? node : nil
      }
    } else {
      let nodes = (node, 1)
      list.append { nodes.0 }
    }
    return true
  }
  override func take() -> Node? {
    if let last = list.popLast() { return last() }
    if let node = several.take()?(0) { return node }
    return single.take()?()
  }
  override func churn() { list = list.map { old in { old() } } }
}

private final class CapturedBox: Holder, @unchecked Sendable {
  private var get: (() -> Node?)?
  private var set: ((Node?) -> Void)?

  override func put(_ node: Node) -> Bool {
    if let get, let set {
      if get() != nil { return false }
      set(node)
      return true
    }
    var variable: Node? = node
    get = { variable }
    set = { variable = $0 }
    return true
  }
  override func take() -> Node? {
    let node = get?()
    set?(nil)
    return node
  }
}

private final class Paths: Holder, @unchecked Sendable {
  struct Root { subscript(node: Node) -> Int { 1 } }
  private var paths: [PartialKeyPath<Root>] = []
  private var nodes: [Unmanaged<Node>] = []

  override func put(_ node: Node) -> Bool {
    if paths.count > 3 { return false }
    paths.append(\Root.[node])
    nodes.append(.passUnretained(node))
    return true
  }
  override func take() -> Node? {
    guard let node = nodes.popLast()?.takeUnretainedValue() else { return nil }
    paths.removeLast()
    return node
  }
}

private final class Locked: Holder, @unchecked Sendable {
  private let node = Mutex<Node?>(nil)
  private let nodes = Mutex<[Node]>([])

  override func put(_ node: Node) -> Bool {
    if self.node.withLock({ $0 == nil }) {
      self.node.withLock { [node] in $0 = node }
    } else {
      nodes.withLock { [node] in $0.append(node) }
    }
    return true
  }
  override func take() -> Node? { nodes.withLock { $0.popLast() } ?? node.withLock { $0.take() } }
}

private final class AtomicWords: Holder, @unchecked Sendable {
  private let word = Atomic<UInt>(0)
  private let pointer = Atomic<UnsafeMutableRawPointer?>(nil)

  override func put(_ node: Node) -> Bool {
    let raw = Unmanaged.passRetained(node).toOpaque()
    if word.compareExchange(expected: 0, desired: UInt(bitPattern: raw) | 1, ordering: .relaxed).exchanged {
      return true
    }
    if pointer.compareExchange(expected: nil, desired: raw, ordering: .relaxed).exchanged { return true }
    Unmanaged<Node>.fromOpaque(raw).release()
    return false
  }
  override func take() -> Node? {
    let number = word.exchange(0, ordering: .relaxed) & ~1
    guard let raw = UnsafeMutableRawPointer(bitPattern: number) ?? pointer.exchange(nil, ordering: .relaxed) else {
      return nil
    }
    return Unmanaged<Node>.fromOpaque(raw).takeRetainedValue()
  }
  deinit { while take() != nil {} }
}

private final class OnceSet: Holder, @unchecked Sendable {
  private let reference = AtomicLazyReference<Node>()
  private var isTaken = false

  override func put(_ node: Node) -> Bool {
    if reference.load() != nil { return false }
    return reference.storeIfNil(node) === node
  }
}

private actor Keeper {
  private var node: Node?
  nonisolated(unsafe) var outside: Node?
}

private final class ActorState: Holder, @unchecked Sendable {
  private let keeper = Keeper()
  override func put(_ node: Node) -> Bool {
    if keeper.outside != nil { return false }
    keeper.outside = node
    return true
  }
  override func take() -> Node? {
    let node = keeper.outside
    keeper.outside = nil
    return node
  }
}

let valueKinds: [Kind] = [
  Kind(name: "value.existential") { Existential() },
  Kind(name: "value.error") { Errors() },
  Kind(name: "value.closure") { Closures() },
  Kind(name: "value.box") { CapturedBox() },
  Kind(name: "value.keyPath") { Paths() },
  Kind(name: "value.mutex") { Locked() },
  Kind(name: "value.atomic") { AtomicWords() },
  Kind(name: "value.atomicLazy") { OnceSet() },
  Kind(name: "value.actor") { ActorState() },
]
