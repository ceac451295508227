// Nothing may be kept: the sniffer is on, and does nothing.
// OPTIONS --zombie-bytes 0
// EXPECT silent
class Item {
  var values = [1, 2, 3]
  func sum() -> Int { values.reduce(0, +) }
}

@inline(never) @_optimize(none) func make(_ number: Int) -> Item {
  let item = Item()
  item.values.append(number)
  return item
}
var total = 0
for number in 0..<20000 { total += make(number).sum() }
print(total)
