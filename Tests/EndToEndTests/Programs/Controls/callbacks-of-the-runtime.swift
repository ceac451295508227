// Objects without a count of their own yet, owned by callers of a function that is known to release nothing, while it calls back.
// EXPECT silent
// HEADER ../Support/scan.h
import Foundation

final class Node {
  var next: Node?
  var value = 1
}
nonisolated(unsafe) var waits = false
struct Key: Hashable {
  let number: Int
  func hash(into hasher: inout Hasher) {
    if waits { usleep(300) }
    hasher.combine(number)
  }
}
struct Row {
  subscript(key: Key) -> Int { key.number }
}
/// The standard library declares what the hash of a key path does, whatever its arguments' own functions do.
@inline(never) func hash(_ path: AnyKeyPath, into hasher: inout Hasher) {
  path.hash(into: &hasher)
  hasher.combine(7)
}
/// Needs so many registers that it saves all those of its caller.
@inline(never) func hashTwice(
  _ path: AnyKeyPath, _ hasher: inout Hasher, _ a: Int, _ b: Int, _ c: Int, _ d: Int, _ e: Int, _ f: Int
) -> Int {
  hash(path, into: &hasher)
  let sum = a &* b ^ c &- d &+ e &* f
  hash(path, into: &hasher)
  return sum &+ a &* 3 &+ b &* 5 &+ c &* 7 &+ d &* 11 &+ e &* 13 &+ f &* 17
}
@inline(never) func number() -> Int { Int(getpid()) }
@inline(never) func ownCycles(_ path: AnyKeyPath) -> Int {
  var hasher = Hasher()
  let (a, b, c, d, e, f) = (number(), number(), number(), number(), number(), number())
  let one = Node()
  one.next = one
  let other = Node()
  other.next = other
  let hashed = hashTwice(path, &hasher, a, b, c, d, e, f)
  one.value = 5
  other.value = 6
  let sum = hashed &+ one.value &+ other.value &+ a &+ b &* c ^ d &- e &* f
  one.next = nil
  other.next = nil
  return sum &+ hasher.finalize()
}

let path = \Row[Key(number: 3)]
_ = path.hashValue
waits = true
nonisolated(unsafe) var goesOn = true
let ended = DispatchSemaphore(value: 0)
for _ in 0..<2 {
  nonisolated(unsafe) let path = path
  Thread {
    var sum = 0
    while goesOn { sum &+= ownCycles(path) }
    if sum == 42 { print("by chance") }
    ended.signal()
  }.start()
}

var falseReports = 0
for _ in 0..<20 { falseReports += Int(undead_test_result(false, false).leaked) }
goesOn = false
for _ in 0..<2 { ended.wait() }
print("false reports: \(falseReports)")
