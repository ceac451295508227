// Memory taken by hand that is not given back.
// KEPT BY nothing
// ADVICE is never given back: call deallocate() on every path
// FIX `deallocate()`
@inline(never) @_optimize(none) func fill(_ numbers: UnsafeMutablePointer<Int>) {
  numbers.initialize(repeating: 7, count: 100)
}
@inline(never) func run() {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 100)
  fill(numbers)
  #if FIXED
    numbers.deallocate()
  #endif
}
run()
