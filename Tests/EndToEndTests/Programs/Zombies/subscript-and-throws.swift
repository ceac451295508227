// Two uses of one dead object, one after the other, are two groups where the program goes on.
// OPTIONS --zombie-policy report
// EXPECT zombie in=debug kind=method type=App.Table member=subscript count=1 allocated=make freed=drop used=lookUp
// EXPECT zombie in=debug kind=method type=App.Table member=check() count=1 allocated=make freed=drop used=verify
// EXPECT zombie in=release kind=method|field type=App.Table allocated=make freed=drop used=lookUp
// EXPECT zombie in=release kind=method|field type=App.Table allocated=make freed=drop used=verify
struct Broken: Error {}

class Table {
  var size = 2
  subscript(index: Int) -> Int { index }
  func check() throws -> Int { 7 }
}

class Special: Table {
  override func check() throws -> Int { throw Broken() }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Table> { Unmanaged.passRetained(Table()) }
@inline(never) func drop(_ table: Unmanaged<Table>) {
  table.release()
  done()
}
@inline(never) @_optimize(none) func lookUp(_ table: Unmanaged<Table>) {
  _ = table._withUnsafeGuaranteedRef { $0[1] }
  done()
}
@inline(never) @_optimize(none) func verify(_ table: Unmanaged<Table>) {
  _ = try? table._withUnsafeGuaranteedRef { try $0.check() }
  done()
}

let table = make()
drop(table)
lookUp(table)
verify(table)
print("went on")
