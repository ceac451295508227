// A closure that is called by its address after it was released.
// KEPT BY nothing
// ADVICE the closure's context was released while something still had its address
// FIX keep the closure for as long as it can be called
// OPTIONS --zombies
struct Handler { let body: () -> Void }
@inline(never) func make(_ number: Int) -> Handler {
  var calls = number
  return Handler { calls += 1 }
}
@inline(never) @_optimize(none) func context(_ handler: Handler) -> Unmanaged<AnyObject> {
  withUnsafeBytes(of: handler) { .fromOpaque($0.load(fromByteOffset: 8, as: UnsafeRawPointer.self)) }
}
@inline(never) @_optimize(none) func use(_ context: Unmanaged<AnyObject>) { context.retain().release() }
@inline(never) func run(_ number: Int) {
  #if FIXED
    let handler = make(number)
    use(context(handler))
    handler.body()
  #else
    use(context(make(number)))
  #endif
}
run(CommandLine.arguments.count)
