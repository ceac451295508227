// Objects that are made, used and freed in turn, or one object that is retained and released: `churn N` or `pairs N`; `threads N` churns on four
// threads at once.
import Foundation

class Node {
  var value: Int
  var next: Node?
  init(_ value: Int) { self.value = value }
  func read() -> Int { value }
}

final class Leaf: Node {
  var extra = 0
  override func read() -> Int { extra + 1 }
}

@inline(never) @_optimize(none) func make(_ number: Int) -> Node { number % 3 == 0 ? Leaf(number) : Node(number) }

/// A few calls deep, as allocations in programs are.
@inline(never) func work(_ number: Int, depth: Int) -> Int {
  if depth > 0 { return work(number, depth: depth - 1) &+ 1 }
  let node = make(number)
  node.next = number % 4 == 0 ? make(number + 1) : nil
  return node.read() &+ (node.next?.read() ?? 0)
}

@inline(never) @_optimize(none) func done() {}

@inline(never) func pairs(_ count: Int) {
  let node = Unmanaged.passRetained(Node(1))
  for _ in 0..<count {
    _ = node.retain()
    done()
    node.release()
  }
  node.release()
}

let arguments = CommandLine.arguments
let count = arguments.count > 2 ? Int(arguments[2]) ?? 0 : 0
let start = DispatchTime.now().uptimeNanoseconds
switch arguments.dropFirst().first {
case "churn":
  var sum = 0
  for number in 0..<count { sum &+= work(number, depth: 8) }
  precondition(sum != 0)
case "threads":
  DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for number in 0..<count / 4 { _ = work(number, depth: 8) }
  }
case "pairs": pairs(count)
default:
  print("usage: churn churn|threads|pairs N")
  exit(64)
}
let nanoseconds = DispatchTime.now().uptimeNanoseconds - start
// What the program itself takes, without its start and its end.
print(String(format: "%.2f", Double(nanoseconds) / Double(max(count, 1))))
