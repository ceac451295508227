// A message to a freed object of a subclass of a class of Foundation.
// EXPECT zombie in=debug kind=method type=App.Import member=main() allocated=make freed=drop used=perform
// EXPECT zombie in=release kind=method|field type=App.Import allocated=make freed=drop used=perform
// EXPECT crash
import Foundation

class Import: Operation, @unchecked Sendable {
  var rows = 3
  override func main() { rows += 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Operation> { Unmanaged.passRetained(Import() as Operation) }
@inline(never) func drop(_ operation: Unmanaged<Operation>) {
  operation.release()
  done()
}
@inline(never) @_optimize(none) func perform(_ operation: Unmanaged<Operation>) {
  operation._withUnsafeGuaranteedRef { $0.main() }
  done()
}

let operation = make()
drop(operation)
perform(operation)
print("not reached")
