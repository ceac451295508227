// Memory that is read after it was deallocated.
// KEPT BY nothing
// ADVICE the memory was deallocated before this use
// FIX deallocate it when nothing uses it any more
// OPTIONS --zombies --zombie-mode sampled --zombie-rate 1
@inline(never) @_optimize(none) func use(_ numbers: UnsafeMutablePointer<Int>) -> Int { numbers[1] }
@inline(never) func run(_ number: Int) {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.initialize(repeating: number, count: 4)
  #if FIXED
    _ = use(numbers)
    numbers.deallocate()
  #else
    numbers.deallocate()
    _ = use(numbers)
  #endif
}
for number in 0..<10 { run(number) }
