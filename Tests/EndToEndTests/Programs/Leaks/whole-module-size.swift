// Optimised for size, whole module, with a library evolution's indirections.
// FLAGS -wmo -enable-library-evolution -module-link-name App
// EXPECT leak kind=retainCycle types=App.Owner,App.Item fields=item,owner count=4
public class Base {
  public var name = "base"
  public init() {}
}
public final class Owner: Base {
  public var item: Item?
}
public final class Item: Base {
  public var owner: Owner?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func make() {
  let owner = Owner()
  let item = Item()
  owner.item = item
  item.owner = owner
  use(owner)
}
for _ in 0..<4 { make() }
