// Cycles made in the function that then ends the program: its registers and dead variables still name them. One is also known weakly and
// unowned from inside.
// EXPECT leak kind=retainCycle types=App.Node,App.Node fields=delegate,delegate count=1
// EXPECT leak kind=retainCycle types=App.Known,App.Known fields=delegate,delegate count=1
import Foundation

final class Node {
  var delegate: Node?
  var name = "plain"
}
final class Known {
  var delegate: Known?
  weak var back: Known?
  unowned var self2: Known?
  var name = "known"
}

do {
  let (first, second) = (Node(), Node())
  first.delegate = second
  second.delegate = first
  let (third, fourth) = (Known(), Known())
  third.delegate = fourth
  fourth.delegate = third
  third.back = fourth
  fourth.self2 = third
  print(first.name, third.name)
}
exit(0)
