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

struct Registry {
  var cache = Cache()
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

fill()
print(registry.cache.sessions.count, hidden != nil)
