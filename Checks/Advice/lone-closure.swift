// A closure in memory that was deallocated without `deinitialize`.
// KEPT BY nothing
// ADVICE a closure that nothing refers to was never released
// FIX `deinitialize(count:)`
@inline(never) @_optimize(none) func call(_ handlers: UnsafeMutablePointer<() -> Void>) { handlers[0]() }
@inline(never) func run(_ number: Int) {
  let handlers = UnsafeMutablePointer<() -> Void>.allocate(capacity: 1)
  var calls = number
  handlers.initialize(to: { calls += 1 })
  call(handlers)
  #if FIXED
    handlers.deinitialize(count: 1)
  #endif
  handlers.deallocate()
}
run(CommandLine.arguments.count)
