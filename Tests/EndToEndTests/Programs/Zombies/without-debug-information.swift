// Compiled without -g: small functions then have no unwind information, and no frame pointer if they are optimised.
// FLAGS -gnone
// EXPECT zombie kind=method|field type=App.Special allocated=main freed=main used=main
// EXPECT crash
class Model {
  var level: Int
  var name = "a name that is on the heap"
  init(_ level: Int) { self.level = level }
  func show() -> Int { level }
}

class Special: Model {
  override func show() -> Int { super.show() + name.utf8.count }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make(_ level: Int) -> Unmanaged<Model> { Unmanaged.passRetained(Special(level)) }
@inline(never) func drop(_ model: Unmanaged<Model>) {
  model.release()
  done()
}
@inline(never) @_optimize(none) func use(_ model: Unmanaged<Model>) {
  print(model._withUnsafeGuaranteedRef { $0.show() })
  done()
}

let model = make(CommandLine.arguments.count)
drop(model)
use(model)
