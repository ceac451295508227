// Globals and locals of main: tuples, structs, closures, nested functions, generic boxes, static members.
// EXPECT silent
struct Pair<First, Second> {
  var first: First
  var second: Second
}
final class Value {
  var number = 2
}
struct Deep {
  var pair = Pair(first: Value(), second: (1, Value()))
  var closure: () -> Int = {
    let value = Value()
    return { value.number }
  }()
  static let shared = Deep()
  static nonisolated(unsafe) var optional: Deep? = Deep()
}
var tuple = (Value(), (1, Value()), [Value()])
let deep = Deep()
var counter: () -> Int = {
  var count = 0
  let value = Value()
  return {
    count += value.number
    return count
  }
}()
var compositions: [(Int) -> (Int) -> Int] = []
for index in 0..<10 {
  let value = Value()
  compositions.append { first in { second in first + second + value.number + index } }
}
let partial = compositions.map { $0(3) }
enum Storage<Element> {
  static var type: Element.Type { Element.self }
}
print(counter(), counter(), partial.count, Deep.shared.closure(), Deep.optional != nil, Storage<Value>.type)
do {
  let local = Value()
  defer { print(local.number) }
  let inner = Value()
  print(inner.number)
}
