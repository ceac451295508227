// Weak and unowned references used as they should be; some targets are dead and wait for their last unowned reference.
// EXPECT silent
final class Parent {
  var children: [Child] = []
  var onEvent: (() -> Void)?
}
final class Child {
  weak var parent: Parent?
  unowned let owner: Parent
  unowned(unsafe) let fast: Parent
  init(_ parent: Parent) {
    self.parent = parent
    owner = parent
    fast = parent
  }
}
final class Zombie {
  var number = 5
}
final class Holder {
  unowned var zombie: Zombie
  weak var gone: Zombie?
  init(_ zombie: Zombie) {
    self.zombie = zombie
    gone = zombie
  }
}
var holders: [Holder] = []
var kept: [Parent] = []
var closures: [() -> Bool] = []

@inline(never) func makeFamily(keep: Bool) {
  let parent = Parent()
  for _ in 0..<3 { parent.children.append(Child(parent)) }
  parent.onEvent = { [weak parent] in parent?.children.removeAll() }
  closures.append { [weak parent, unowned child = parent.children[0]] in parent == nil && child.parent == nil }
  if keep { kept.append(parent) }
}
@inline(never) func makeZombie() { holders.append(Holder(Zombie())) }
for index in 0..<30 {
  makeFamily(keep: index % 2 == 0)
  makeZombie()
}
print(kept.count, holders.count, holders[3].gone == nil, closures.count)
