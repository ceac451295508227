// Class payloads in enums of every layout, alive in globals, arrays and fields.
// EXPECT silent
final class Pay {
  var value = 1
}
enum Single {
  case none
  case some(Pay)
}
enum Four {
  case a(Pay)
  case b(Pay)
  case c(Pay)
  case d(Pay)
  case e(Int32)
}
enum Mixed {
  case pair(Pay, Pay)
  case number(Int)
  case text(String)
  case nested(Four)
  case array([Pay])
}
indirect enum Tree {
  case leaf(Pay)
  case node(Tree, Tree)
}
final class Holder {
  let four: Four
  let mixed: Mixed
  init(_ four: Four, _ mixed: Mixed) {
    self.four = four
    self.mixed = mixed
  }
}
var singles: [Single] = [.some(Pay()), .none]
var global = Four.d(Pay())
var optional: Four? = .c(Pay())
var twice: Four?? = .b(Pay())
var tree = Tree.node(.leaf(Pay()), .node(.leaf(Pay()), .leaf(Pay())))
var holders: [Holder] = []
var dictionary: [Int: Four] = [:]
var tuples: [(Four, Mixed)] = []

@inline(never) func fill() {
  for index in 0..<200 {
    let four: Four
    switch index % 5 {
    case 0: four = .a(Pay())
    case 1: four = .b(Pay())
    case 2: four = .c(Pay())
    case 3: four = .d(Pay())
    default: four = .e(5)
    }
    let mixed: Mixed
    switch index % 5 {
    case 0: mixed = .pair(Pay(), Pay())
    case 1: mixed = .number(index)
    case 2: mixed = .text("a text of number \(index) that is on the heap")
    case 3: mixed = .nested(.c(Pay()))
    default: mixed = .array([Pay(), Pay()])
    }
    holders.append(Holder(four, mixed))
    dictionary[index] = .b(Pay())
    tuples.append((four, mixed))
  }
}
fill()
print(holders.count, dictionary.count, tuples.count, singles.count)
