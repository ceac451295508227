// Two objects that hold each other, made in a loop. Without reflection metadata there are no field names; without a symbol table and
// debug information types and fields come from the metadata.
// CASE two-object-cycle
// EXPECT leak kind=retainCycle types=App.Owner,App.Item fields=item,owner count=10 at=owner|item
// CASE no-reflection-metadata
// FLAGS -Xfrontend -disable-reflection-metadata
// EXPECT leak kind=retainCycle types=App.Owner,App.Item count=10 at=owner|item
// CASE stripped
// FLAGS -Xlinker --strip-all
// EXPECT leak kind=retainCycle types=App.Owner,App.Item fields=item,owner count=10
final class Owner {
  var name = "owner"
  var item: Item?
}
final class Item {
  var weight = 3.5
  var owner: Owner?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeCycle() {
  let owner = Owner()  // @owner
  let item = Item()  // @item
  owner.item = item
  item.owner = owner
  use(owner)
}
for _ in 0..<10 { makeCycle() }
print("done")
