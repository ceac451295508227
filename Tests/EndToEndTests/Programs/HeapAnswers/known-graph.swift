// A heap whose every object is known: what is in it, who holds it and what each keeps alive.
// EXPECT silent
import Foundation

final class Product {
  let title: String
  init(_ number: Int) { title = "a title that is too long to be inline, \(number)" }
}

final class Session {
  let name: String
  let buffer: [UInt8]
  let product: Product
  weak var cache: Cache?
  unowned let back: Cache
  init(_ number: Int, _ product: Product, _ cache: Cache) {
    name = "a name that is too long to be inline, \(number)"
    buffer = [UInt8](repeating: 1, count: 200)
    self.product = product
    self.cache = cache
    back = cache
  }
}

final class Node {
  var next: Node?
  init(_ next: Node?) { self.next = next }
}

final class Cache {
  var sessions: [String: Session] = [:]
  var products: [Product] = []
  var list: Node?
  var callbacks: [() -> Void] = []
}

final class Apple {
  var bites = 0
}

final class Button {
  var action: (() -> Void)?
  var later: (() async -> Void)?
}

/// Of 48 bytes, in blocks of 56.
final class Entry {
  var numbers = (1, 2, 3, 4)
}

final class Leaf {
  var number = 1
}

struct Registry {
  var cache = Cache()
  var buttons: [Button] = []
  var entries: [Entry] = []
  var leaf = Leaf()
  var byNumber: [Int: Product] = [:]
}

final class Hidden {
  var payload = [Int](repeating: 7, count: 100)
}

nonisolated(unsafe) var registry = Registry()
/// Its only owner is a reference that no field has.
nonisolated(unsafe) var hidden: Unmanaged<Hidden>?

@inline(never) func fill() {
  let cache = registry.cache
  for number in 0..<5 { cache.products.append(Product(number)) }
  for number in 0..<1000 {
    cache.sessions["a key that is too long to be inline, \(number)"] = Session(
      number, cache.products[number % 5], cache)
  }
  for _ in 0..<100 { cache.list = Node(cache.list) }
  for session in cache.sessions.values.prefix(10) { cache.callbacks.append { print(session.name) } }
  // Shared by two of its owner's fields and by another dictionary.
  for (number, product) in cache.products.enumerated() where number < 2 { registry.byNumber[number] = product }
  hidden = Unmanaged.passRetained(Hidden())
}

@inline(never) func wireFirst(_ button: Button) {
  let apple = Apple()
  button.action = { apple.bites += 1 }
}
@inline(never) func wireSecond(_ button: Button) {
  let (apple, other) = (Apple(), Apple())
  button.action = { apple.bites += other.bites }
}
@inline(never) func wireThird(_ button: Button, _ number: Int) {
  let apple = Apple()
  button.action = { apple.bites += number }
}

/// Closures of three functions in one field; and what malloc leaves behind an object names another.
@inline(never) func wire() {
  for number in 0..<4 {
    let buttons = [Button(), Button(), Button()]
    wireFirst(buttons[0])
    wireSecond(buttons[1])
    wireThird(buttons[2], number)
    registry.buttons += buttons
    registry.entries.append(Entry())
    let behind = Unmanaged.passUnretained(registry.entries[number]).toOpaque() + 48
    behind.storeBytes(of: Unmanaged.passUnretained(registry.leaf).toOpaque(), as: UnsafeMutableRawPointer.self)
  }
}

fill()
wire()
print(registry.cache.sessions.count, hidden != nil)
