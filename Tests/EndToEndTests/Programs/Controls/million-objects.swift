// A million live objects in trees, arrays and dictionaries.
// EXPECT silent
final class Tree {
  var left: Tree?
  var right: Tree?
  init(_ depth: Int) {
    if depth > 0 {
      left = Tree(depth - 1)
      right = Tree(depth - 1)
    }
  }
}
final class Item {
  let number: Int
  let text: String
  init(_ number: Int) {
    self.number = number
    text = "item number \(number) on the heap"
  }
}
let tree = Tree(18)
var items: [Int: Item] = [:]
for number in 0..<150_000 { items[number] = Item(number) }
let all = items.values.map { [$0] }
print(all.count, tree.left != nil)
