// A service with a leak that works until it is told to stop; it counts what a signal or a stop could disturb.
// EXPECT leak kind=retainCycle types=App.Node fields=next
import Foundation

final class Node {
  var next: Node?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func make() {
  let node = Node()
  node.next = node
  use(node)
}

let directory = CommandLine.arguments[1]
nonisolated(unsafe) var isStopped = false
nonisolated(unsafe) var interruptions = 0
let threads = (0..<3).map { _ in
  let thread = Thread {
    var list: [String: [UInt8]] = [:]
    var number = 0
    while !isStopped {
      number += 1
      list["key \(number % 300)"] = [UInt8](repeating: 1, count: number % 500)
      if usleep(100) != 0 { interruptions += 1 }
    }
  }
  thread.start()
  return thread
}
for _ in 0..<5 { make() }
FileManager.default.createFile(atPath: directory + "/ready", contents: nil)
while access(directory + "/stop", F_OK) != 0 { poll(nil, 0, 5) }
isStopped = true
while threads.contains(where: { !$0.isFinished }) { usleep(1000) }
for _ in 0..<2 { make() }
print("interruptions", interruptions)
