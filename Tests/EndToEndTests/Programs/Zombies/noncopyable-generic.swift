// A class with a parameter that need not be copyable, and a pack.
// EXPECT zombie in=debug kind=method type=App.Owner<*> member=value allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field|retain type=App.Owner<*> allocated=make freed=drop used=ask
// EXPECT crash
struct Handle: ~Copyable {
  var number = 1
}

class Owner<Content: ~Copyable> {
  var content: Content
  init(_ content: consuming Content) { self.content = content }
  func value() -> Int { 1 }
}

class Special<Content: ~Copyable>: Owner<Content> {
  override func value() -> Int { 2 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Owner<Handle>> { Unmanaged.passRetained(Owner(Handle())) }
@inline(never) func drop(_ owner: Unmanaged<Owner<Handle>>) {
  owner.release()
  done()
}
@inline(never) @_optimize(none) func ask(_ owner: Unmanaged<Owner<Handle>>) {
  print(owner._withUnsafeGuaranteedRef { $0.value() })
}

let owner = make()
drop(owner)
ask(owner)
