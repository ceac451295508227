// An inherited method of Foundation's own is sent to a freed subclass of the program.
// EXPECT zombie kind=method|field type=App.Import member~=cancel allocated=make freed=drop used=perform
// EXPECT crash
import Foundation

class Import: Operation, @unchecked Sendable {
  var rows = 3
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Operation> { Unmanaged.passRetained(Import() as Operation) }
@inline(never) func drop(_ operation: Unmanaged<Operation>) {
  operation.release()
  done()
}
@inline(never) @_optimize(none) func perform(_ operation: Unmanaged<Operation>) {
  operation._withUnsafeGuaranteedRef { $0.cancel() }
  done()
}

let operation = make()
drop(operation)
perform(operation)
print("not reached")
