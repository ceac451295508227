// Cycles made in the function that then ends the program: its registers and dead variables still name them. One is also known weakly and
// unowned from inside; others go through a lock, an array that the frame still names, and a value that cannot be copied.
// EXPECT leak kind=retainCycle types=App.Node,App.Node fields=delegate,delegate count=1
// EXPECT leak kind=retainCycle types=App.Known,App.Known fields=delegate,delegate count=1
// EXPECT leak kind=retainCycle types=App.Listener fields=handlers count=1
// EXPECT leak kind=retainCycle types=App.Locked count=1
// EXPECT leak kind=retainCycle types=App.Once count=1
import Foundation
import Synchronization

final class Listener {
  var handlers: [(() -> Void)?] = []
  var calls = 0
}
final class Locked: Sendable { let owner = Mutex<Locked?>(nil) }
struct Token: ~Copyable { var owner: Once? }
final class Once { var token = Token() }
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
  let (listener, locked, once) = (Listener(), Locked(), Once())
  listener.handlers = [nil, { listener.calls += 1 }]
  locked.owner.withLock { $0 = locked }
  once.token.owner = once
  print(first.name, third.name, listener.handlers.count)
}
exit(0)
