// A dictionary is looked up after one release too many: the library's code reads its storage.
// EXPECT zombie kind=field type=Swift._DictionaryStorage<*> operation=read allocated=make freed=drop used=show
// EXPECT crash
@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> [Int: String] {
  Dictionary(uniqueKeysWithValues: (0..<20).map { ($0, "value \($0)") })
}
nonisolated(unsafe) var values = make()
@inline(never) @_optimize(none) func drop() {
  withUnsafeBytes(of: &values) {
    Unmanaged<AnyObject>.fromOpaque($0.load(as: UnsafeRawPointer.self)).release()
  }
  done()
}
@inline(never) @_optimize(none) func show() -> String { values[7] ?? "none" }

drop()
print(show())
