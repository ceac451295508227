// Two objects that hold each other, made in a loop, and one that holds itself by a closure. Without reflection metadata there are no
// field names; without a symbol table and debug information types and fields come from the metadata; where the runtime is linked
// statically its symbols are local to the program.
// CASE two-object-cycle
// EXPECT leak kind=retainCycle types=App.Owner,App.Item<Swift.Int> fields=item,owner count=10 at=owner|item
// EXPECT leak kind=retainCycle types=App.Model fields=onChange count=2 at=model
// CASE no-reflection-metadata
// FLAGS -Xfrontend -disable-reflection-metadata
// EXPECT leak kind=retainCycle types=App.Owner,App.Item<Swift.Int> count=10 at=owner|item
// EXPECT leak kind=retainCycle types=App.Model count=2 at=model
// CASE stripped
// FLAGS -Xlinker --strip-all
// EXPECT leak kind=retainCycle types=App.Owner,App.Item<Swift.Int> fields=item,owner count=10
// EXPECT leak kind=retainCycle types=App.Model fields=onChange count=2
// CASE static-stdlib
// FLAGS -static-stdlib
// EXPECT leak kind=retainCycle types=App.Owner,App.Item<Swift.Int> fields=item,owner count=10 at=owner|item
// EXPECT leak kind=retainCycle types=App.Model fields=onChange count=2 at=model
final class Owner {
  var name = "owner"
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

@inline(never) func makeCycle() {
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
for _ in 0..<10 { makeCycle() }
for _ in 0..<2 { makeModel() }
print("done")
