// A global holds each leaked cycle weakly and unowned: the leaks must be found all the same, and if nothing says
// who made a block.
// CASE weak-and-unowned-to-cycle
// EXPECT leak kind=retainCycle types=App.Parent,App.Child fields=child,parent count=100 at=parent|child
// CASE unowned-to-cycle-unrecorded
// EXPECT leak kind=retainCycle types=App.Parent,App.Child fields=child,parent count=100
// OPTIONS --stacks none
final class Parent {
  var child: Child?
}
final class Child {
  var parent: Parent?
}
final class Watcher {
  weak var parent: Parent?
  unowned var child: Child
  unowned var optional: Parent?
  init(_ parent: Parent, _ child: Child) {
    self.parent = parent
    self.child = child
    optional = parent
  }
}
var watchers: [Watcher] = []

@inline(never) func make() {
  let parent = Parent()  // @parent
  let child = Child()  // @child
  parent.child = child
  child.parent = parent
  watchers.append(Watcher(parent, child))
}
for _ in 0..<100 { make() }
print(watchers.count)
