// An Int field of a dead object is written.
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=write allocated=make freed=drop used=set
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
@inline(never) func set(_ counter: Unmanaged<Counter>, _ value: Int) {
  counter._withUnsafeGuaranteedRef { $0.value = value }
}

let counter = make()
drop(counter)
set(counter, CommandLine.arguments.count)
print("not reached under guard")
