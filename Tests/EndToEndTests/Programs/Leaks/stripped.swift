// No symbol table and no debug information: types and fields come from the metadata all the same.
// FLAGS -Xlinker --strip-all
// EXPECT leak kind=retainCycle types=App.Owner,App.Item fields=item,owner count=4
final class Owner {
  var item: Item?
}
final class Item {
  var owner: Owner?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let owner = Owner()
  let item = Item()
  owner.item = item
  item.owner = owner
  use(owner)
}
for _ in 0..<(CommandLine.arguments.count * 4) { make() }
