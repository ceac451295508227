// A closure that calls itself by the variable that it is stored in.
// KEPT BY the variable
// ADVICE a closure captures the very variable that it is stored in: set the variable to nil after the last call
// FIX set the variable to nil, or use a local function
final class Counter { var left = 3 }
@inline(never) @_optimize(none) func keep(_ body: @escaping () -> Void) { body() }
@inline(never) func run() {
  let counter = Counter()
  var step: (() -> Void)?
  step = {
    counter.left -= 1
    if counter.left > 0 { step?() }
  }
  keep(step!)
  #if FIXED
    step = nil
  #endif
}
run()
