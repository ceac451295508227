// The box of a generic variable is read through a pointer after the closures that shared it are gone.
// EXPECT zombie in=release kind=closure allocated=make freed=drop used=show
// EXPECT crash in=release
// EXPECT any in=debug
@inline(never) @_optimize(none) func done() {}
nonisolated(unsafe) var pointer: UnsafeMutableRawPointer?
@inline(never) @_optimize(none) func make<T>(_ value: T) -> () -> T {
  var variable = value
  withUnsafeMutablePointer(to: &variable) { pointer = UnsafeMutableRawPointer($0) }
  return {
    let current = variable
    variable = current
    return current
  }
}
nonisolated(unsafe) var closure: (() -> Int)? = make(4)
@inline(never) @_optimize(none) func drop() {
  closure = nil
  done()
}
@inline(never) func show() -> Int { pointer!.load(as: Int.self) }

drop()
print(show())
