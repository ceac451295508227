// Cycles through values in existentials, of which numbers and stale words name an object.
// EXPECT leak kind=retainCycle types=App.BySmallStruct fields=shape count=1
// EXPECT leak kind=retainCycle types=App.ByArray fields=any count=1
// EXPECT leak kind=retainCycle types=App.ByTuple fields=any count=1
// EXPECT leak kind=retainCycle types=App.ByKey fields=key count=1
// EXPECT leak kind=retainCycle types=App.ByFunction fields=shape count=1
class Node {
  var any: Any?
  var shape: (any Shape)?
  var key: AnyHashable?
}
final class BySmallStruct: Node {}
final class ByArray: Node {}
final class ByTuple: Node {}
final class ByKey: Node {}
final class ByFunction: Node {}

protocol Shape {}
struct Owned: Shape {
  let number: Int
  let owner: Node
}
struct Action: Shape { let run: () -> Void }
struct Key: Hashable {
  let node: Node
  static func == (a: Key, b: Key) -> Bool { a.node === b.node }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(node)) }
}

nonisolated(unsafe) var named: [ObjectIdentifier] = []

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func leak<N: Node>(_ node: N, _ close: (N) -> Void) {
  close(node)
  named.append(ObjectIdentifier(node))
  use(node)
}

leak(BySmallStruct()) { $0.shape = Owned(number: 1, owner: $0) }
leak(ByArray()) { $0.any = [$0] }
leak(ByTuple()) { $0.any = (1, $0) }
leak(ByKey()) { $0.key = Key(node: $0) }
leak(ByFunction()) { node in node.shape = Action { node.any = nil } }
print(named.count)
