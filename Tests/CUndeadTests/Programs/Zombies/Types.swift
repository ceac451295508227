import Foundation

class Animal {
  var legs = 4
  func speak() -> Int { legs }
  class func kingdom() -> Int { 1 }
}
nonisolated(unsafe) var escaped: AnyObject?
final class Ghost {
  let weight = 21
  deinit { letOut(self) }
}
// The optimiser would store it without a reference.
@inline(never) @_optimize(none) func letOut(_ object: AnyObject) { escaped = object }
class Dog: Animal {
  var friends = [1, 2, 3]
  var name = "a name that does not fit into a small string"
  override func speak() -> Int { friends.count }
  func fetch(_ stick: Int) async -> Int { stick + legs }
}
protocol Speaker: AnyObject { func say() -> Int }
extension Dog: Speaker { func say() -> Int { speak() } }
class Box<Value> {
  var value: Value
  init(_ value: Value) { self.value = value }
  func get() -> Value { value }
}
class Pack<each Value> {
  var count = 1
  func size() -> Int { count }
}
class Holder<Value: ~Copyable> {
  var count = 1
  func size() -> Int { count }
}
struct Outer<Value> {
  class Inner {
    var count = 1
    func size() -> Int { count }
  }
}
class Job: Operation, @unchecked Sendable {
  var result = 3
  func outcome() -> Int { result }
}
actor Counter {
  var count = 1
  func next() -> Int {
    count += 1
    return count
  }
}
final class Point {
  var x = 7
  var y = 8
}
class Keeper {
  unowned var safe: Dog
  unowned(unsafe) var unsafe: Dog
  weak var weak: Dog?
  init(_ dog: Dog) {
    safe = dog
    unsafe = dog
    weak = dog
  }
}
