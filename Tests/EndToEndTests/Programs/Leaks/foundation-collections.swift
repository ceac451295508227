// Foundation collections that contain themselves or the object that holds them.
// EXPECT leak kind=retainCycle types=Foundation.NSMutableArray count=3
// EXPECT leak kind=retainCycle types=App.Cart fields=items count=2
// EXPECT leak kind=retainCycle types=App.Index fields=entries count=2
import Foundation

final class Cart: NSObject {
  let items = NSMutableArray()
  var total = 0.0
}
final class Index: NSObject {
  let entries = NSMutableDictionary()
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeArray() {
  let array = NSMutableArray()
  array.add(array)
  use(array)
}
@inline(never) func makeCart() {
  let cart = Cart()
  cart.items.add("apple")
  cart.items.add(cart)
  use(cart)
}
@inline(never) func makeIndex() {
  let index = Index()
  index.entries["self"] = index
  use(index)
}
for _ in 0..<3 { makeArray() }
for _ in 0..<2 { makeCart() }
for _ in 0..<2 { makeIndex() }
