// A dead object is put into a collection: a retain at a place far from the one that will crash.
// EXPECT zombie kind=retain type=App.Entry allocated=make freed=drop used=keep
// EXPECT crash
final class Entry {
  var value = 1
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Entry> { Unmanaged.passRetained(Entry()) }
@inline(never) func drop(_ entry: Unmanaged<Entry>) {
  entry.release()
  done()
}
@inline(never) @_optimize(none) func keep(_ entry: Unmanaged<Entry>, _ list: inout [Entry]) {
  list.append(entry.takeUnretainedValue())
}

var list: [Entry] = []
let entry = make()
drop(entry)
keep(entry, &list)
print(list.count)
