// An element behind the end of memory that was allocated.
// KEPT BY nothing
// ADVICE the access is outside of the memory that was allocated
// FIX compare the index with the capacity
// OPTIONS --zombies --zombie-mode sampled --zombie-rate 1
@inline(never) @_optimize(none) func use(_ numbers: UnsafeMutablePointer<Int>, _ index: Int) -> Int { numbers[index] }
@inline(never) func run(_ number: Int) {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 4)
  numbers.initialize(repeating: number, count: 4)
  #if FIXED
    _ = use(numbers, 3)
  #else
    _ = use(numbers, 4)
  #endif
  numbers.deallocate()
}
for number in 0..<10 { run(number) }
