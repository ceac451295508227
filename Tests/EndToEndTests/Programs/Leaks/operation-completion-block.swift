// The completion block of an operation captures the operation, which never runs.
// EXPECT leak kind=retainCycle types=App.Import count=4
import Foundation

final class Import: Operation, @unchecked Sendable {
  var rows = 0
  override func main() { rows = 10 }
}
@inline(never) func prepare() {
  let operation = Import()  // @operation
  operation.completionBlock = { print(operation.rows) }
}
for _ in 0..<4 { prepare() }
