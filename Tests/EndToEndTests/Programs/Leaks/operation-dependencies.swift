// Two operations that depend on each other.
// EXPECT leak kind=retainCycle types=App.Step count=3
import Foundation

final class Step: Operation, @unchecked Sendable {
  let number: Int
  init(_ number: Int) { self.number = number }
}
@inline(never) func prepare() {
  let first = Step(1)
  let second = Step(2)
  first.addDependency(second)
  second.addDependency(first)
}
for _ in 0..<3 { prepare() }
