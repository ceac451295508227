// Collections of every size with removed elements, bridged to Foundation and back.
// EXPECT silent
import Foundation

final class Value: Hashable {
  let number: Int
  init(_ number: Int) { self.number = number }
  static func == (left: Value, right: Value) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
var dictionary: [Value: [Value]] = [:]
var set: Set<Value> = []
var bridged: [NSDictionary] = []
var arrays: [NSArray] = []
var mutable = NSMutableDictionary()
var contiguous: ContiguousArray<Value?> = []
var sequences: [AnySequence<Value>] = []
var iterators: [AnyIterator<Value>] = []
var lazyOnes: [LazyMapSequence<[Int], Value>] = []

@inline(never) func fill() {
  for index in 0..<300 {
    dictionary[Value(index)] = (0..<(index % 4)).map { Value($0) }
    set.insert(Value(index))
    contiguous.append(index % 3 == 0 ? nil : Value(index))
    mutable["key \(index)"] = Value(index)
  }
  for index in stride(from: 0, to: 300, by: 3) {
    dictionary[Value(index)] = nil
    set.remove(Value(index))
    mutable.removeObject(forKey: "key \(index)")
  }
  bridged.append(["a": Value(1), "b": [Value(2)]] as NSDictionary)
  arrays.append([Value(3), "text", 4] as NSArray)
  sequences.append(AnySequence([Value(1), Value(2)]))
  iterators.append(AnyIterator([Value(1), Value(2)].makeIterator()))
  lazyOnes.append([1, 2].lazy.map { Value($0) })
}
fill()
print(dictionary.count, set.count, contiguous.count, mutable.count, sequences.count, iterators.count, lazyOnes.count)
