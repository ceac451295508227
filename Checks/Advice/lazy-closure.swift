// A closure in a lazy property that captures `self`.
// KEPT BY the property
// ADVICE the closure in the lazy property `title` captures `self` strongly and is kept: capture it weakly (`[weak self]`)
// FIX `[weak self]`
final class Label {
  var name = "label"
  #if FIXED
    lazy var title: () -> String = { [weak self] in self?.name ?? "" }
  #else
    lazy var title: () -> String = { self.name }
  #endif
}
@inline(never) @_optimize(none) func use(_ text: String) {}
@inline(never) func run() { use(Label().title()) }
run()
