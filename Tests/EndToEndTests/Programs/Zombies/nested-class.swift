// A message to a freed object of a class inside a generic struct.
// EXPECT zombie in=debug kind=method type=*Outer*Inner* member=value allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field type=*Outer*Inner* allocated=make freed=drop used=ask
// EXPECT crash
struct Outer<Element> {
  class Inner {
    var stored: [Element] = []
    func value() -> Int { stored.count }
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Outer<Int>.Inner> { Unmanaged.passRetained(.init()) }
@inline(never) func drop(_ inner: Unmanaged<Outer<Int>.Inner>) {
  inner.release()
  done()
}
@inline(never) @_optimize(none) func ask(_ inner: Unmanaged<Outer<Int>.Inner>) {
  print(inner._withUnsafeGuaranteedRef { $0.value() })
}

let inner = make()
drop(inner)
ask(inner)
