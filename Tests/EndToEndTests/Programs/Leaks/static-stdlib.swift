// The runtime is linked statically: the symbols of the runtime are local to the program.
// FLAGS -static-stdlib
// EXPECT leak kind=retainCycle types=App.Owner,App.Item<Swift.Int> fields=item,owner count=4 at=owner|item
// EXPECT leak kind=retainCycle types=App.Model fields=onChange count=2 at=model
final class Owner {
  weak var watcher: Owner?
  var item: Item<Int>?
}
final class Item<Value> {
  var value: Value
  var owner: Owner?
  init(_ value: Value) { self.value = value }
}
final class Model {
  var changes = 0
  var onChange: (() -> Void)?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeOwner() {
  let owner = Owner()  // @owner
  let item = Item(3)  // @item
  owner.item = item
  item.owner = owner
  use(owner)
}
@inline(never) func makeModel() {
  let model = Model()  // @model
  model.onChange = { model.changes += 1 }
  use(model)
}
for _ in 0..<4 { makeOwner() }
for _ in 0..<2 { makeModel() }
