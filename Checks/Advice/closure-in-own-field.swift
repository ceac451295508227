// A closure in a field that captures the object with the field.
// KEPT BY the closure
// ADVICE closure stored in `onChange` captures `self` strongly: capture it weakly (`[weak self]`)
// FIX `[weak self]`
final class Model {
  var count = 0
  var onChange: (() -> Void)?
  func start() {
    #if FIXED
      onChange = { [weak self] in self?.count += 1 }
    #else
      onChange = { self.count += 1 }
    #endif
  }
}
@inline(never) func run() { Model().start() }
run()
