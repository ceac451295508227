// A delegate that is a strong reference.
// KEPT BY the field
// ADVICE `delegate` of App.Table refers back to what holds it: declare it `weak`
// FIX `weak var`
final class Table {
  #if FIXED
    weak var delegate: Screen?
  #else
    var delegate: Screen?
  #endif
}
final class Screen {
  let table = Table()
  func start() { table.delegate = self }
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}
@inline(never) func run() {
  let screen = Screen()
  screen.start()
  use(screen)
}
run()
