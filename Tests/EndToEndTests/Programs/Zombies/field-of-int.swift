// An Int field of a dead object is read or written: nothing but guard pages sees the access itself.
// EXPECT crash in=release
// EXPECT any in=debug
// CASE field-read-int
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=read allocated=make freed=drop used=show
// CASE field-write-int
// FLAGS -D WRITE
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=write allocated=make freed=drop used=set
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
@inline(never) func set(_ counter: Unmanaged<Counter>, _ value: Int) {
  counter._withUnsafeGuaranteedRef { $0.value = value }
}

let counter = make()
drop(counter)
#if WRITE
  set(counter, CommandLine.arguments.count)
  print("not reached under guard")
#else
  print(show(counter))
#endif
