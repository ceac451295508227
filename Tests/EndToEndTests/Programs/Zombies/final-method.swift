// A method of a final class is no message in any build: its fields are.
// EXPECT zombie kind=field|retain type=App.Reader allocated=make freed=drop used=read
// EXPECT crash
final class Reader {
  var lines: [String] = ["a"]
  @inline(never) func read() -> Int { lines.count }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Reader> { Unmanaged.passRetained(Reader()) }
@inline(never) func drop(_ reader: Unmanaged<Reader>) {
  reader.release()
  done()
}

let reader = make()
drop(reader)
print(reader._withUnsafeGuaranteedRef { $0.read() })
