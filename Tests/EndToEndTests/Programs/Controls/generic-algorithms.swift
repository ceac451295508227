// Programs that end normally with nothing but locals and temporary values, deep recursion, big stacks of frames.
// EXPECT silent
final class Tree {
  var left: Tree?
  var right: Tree?
  init(_ depth: Int) {
    guard depth > 0 else { return }
    left = Tree(depth - 1)
    right = Tree(depth - 1)
  }
  func count() -> Int { 1 + (left?.count() ?? 0) + (right?.count() ?? 0) }
}
@inline(never) func recurse(_ depth: Int, _ values: [Tree]) -> Int {
  depth == 0 ? values.count : recurse(depth - 1, values + [Tree(1)])
}
func permutations<Element>(_ values: [Element]) -> [[Element]] {
  guard values.count > 1 else { return [values] }
  return values.indices.flatMap { index -> [[Element]] in
    var rest = values
    let element = rest.remove(at: index)
    return permutations(rest).map { [element] + $0 }
  }
}
var total = 0
for depth in 0..<14 { total += Tree(depth).count() }
print(total, recurse(300, []), permutations([1, 2, 3, 4, 5, 6]).count)
let words = String(repeating: "one two three four ", count: 500).split(separator: " ")
print(Dictionary(grouping: words, by: \.count).mapValues(\.count).values.sorted())
let kept = Tree(10)
print(kept.count())
