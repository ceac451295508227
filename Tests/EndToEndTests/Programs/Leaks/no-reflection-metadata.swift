// Without reflection metadata there are no field names; the leak and its types are found all the same.
// FLAGS -Xfrontend -disable-reflection-metadata
// EXPECT leak kind=retainCycle types=App.Owner,App.Item count=4 at=owner|item
final class Owner {
  var item: Item?
}
final class Item {
  var owner: Owner?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let owner = Owner()  // @owner
  let item = Item()  // @item
  owner.item = item
  item.owner = owner
  use(owner)
}
for _ in 0..<4 { make() }
