// A tree whose children hold their parent strongly, through an array.
// EXPECT leak kind=retainCycle types=App.Folder fields=children,parent count=2 at=root|child
final class Folder {
  let name: String
  var children: [Folder] = []
  var parent: Folder?
  init(_ name: String) { self.name = name }
  func add(_ name: String) {
    let child = Folder(name)  // @child
    child.parent = self
    children.append(child)
  }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeTree() {
  let root = Folder("root")  // @root
  for index in 0..<5 { root.add("child \(index)") }
  use(root)
}
makeTree()
makeTree()
