// A message to a freed object of a subclass of a class of Foundation: its own method, or one that it inherits.
// EXPECT crash
// CASE operation-subclass
// EXPECT zombie in=debug kind=method type=App.Import member=main() allocated=make freed=drop used=perform
// EXPECT zombie in=release kind=method|field type=App.Import allocated=make freed=drop used=perform
// CASE method-of-the-library
// FLAGS -D INHERITED
// EXPECT zombie kind=method|field type=App.Import member~=cancel allocated=make freed=drop used=perform
import Foundation

class Import: Operation, @unchecked Sendable {
  var rows = 3
  #if !INHERITED
    override func main() { rows += 1 }
  #endif
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Operation> { Unmanaged.passRetained(Import() as Operation) }
@inline(never) func drop(_ operation: Unmanaged<Operation>) {
  operation.release()
  done()
}
@inline(never) @_optimize(none) func perform(_ operation: Unmanaged<Operation>) {
  #if INHERITED
    operation._withUnsafeGuaranteedRef { $0.cancel() }
  #else
    operation._withUnsafeGuaranteedRef { $0.main() }
  #endif
  done()
}

let operation = make()
drop(operation)
perform(operation)
print("not reached")
