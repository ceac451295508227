// An Int field of a dead object is read: nothing but guard pages sees the load itself.
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=read allocated=make freed=drop used=show
// EXPECT crash in=release
// EXPECT any in=debug
final class Counter {
  var other = 1
  var value = 2
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Counter> { Unmanaged.passRetained(Counter()) }
@inline(never) func drop(_ counter: Unmanaged<Counter>) {
  counter.release()
  done()
}
@inline(never) func show(_ counter: Unmanaged<Counter>) -> Int {
  counter._withUnsafeGuaranteedRef { $0.value }
}

let counter = make()
drop(counter)
print(show(counter))
