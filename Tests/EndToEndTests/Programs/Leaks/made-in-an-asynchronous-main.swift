// Cycles made in an asynchronous main function, whose task's memory and registers still name them when it ends. A living object knows one
// weakly, and one unowned.
// EXPECT leak kind=retainCycle types=App.Node,App.Node fields=delegate,delegate count=1
// EXPECT leak kind=retainCycle types=App.Known,App.Known fields=delegate,delegate count=1
// EXPECT leak kind=retainCycle types=App.Lent,App.Lent fields=delegate,delegate count=1
import Foundation

final class Node {
  var delegate: Node?
  var name = "plain"
}
final class Known {
  var delegate: Known?
  var name = "known"
}
final class Lent {
  var delegate: Lent?
  var name = "lent"
}
final class Registry {
  weak var known: Known?
  unowned var lent: Lent
  init(_ lent: Lent) { self.lent = lent }
}
nonisolated(unsafe) var registry: Registry?

do {
  let (first, second) = (Node(), Node())
  first.delegate = second
  second.delegate = first
  let (third, fourth) = (Known(), Known())
  third.delegate = fourth
  fourth.delegate = third
  let (fifth, sixth) = (Lent(), Lent())
  fifth.delegate = sixth
  sixth.delegate = fifth
  registry = Registry(fifth)
  registry?.known = third
  await Task.yield()
  print(first.name, third.name, fifth.name)
}
