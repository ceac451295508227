// The bytes of a string are read after the string is gone: a number, which nothing but a page of its own shows.
// EXPECT zombie kind=field type=Swift.__StringStorage member=byte operation=read allocated=make freed=drop used=show
// EXPECT crash
@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> String {
  String(repeating: "abcdefghij", count: CommandLine.argc > 0 ? 4 : 5)
}
nonisolated(unsafe) var text = make()
@inline(never) @_optimize(none) func bytes() -> UnsafeBufferPointer<UInt8> { text.withUTF8 { $0 } }
@inline(never) func drop() {
  text = ""
  done()
}
@inline(never) func show(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt8 { bytes[5] }

let dead = bytes()
drop()
print(show(dead))
