// Tail-allocated storage, casts, mirrors, key paths, uniqueness checks, unmanaged references that are right.
// EXPECT silent
import Foundation

final class Buffer: ManagedBuffer<Int, String> {
  deinit { _ = withUnsafeMutablePointers { header, elements in elements.deinitialize(count: header.pointee) } }
}

class Animal {
  var name: String
  required init(name: String) { self.name = name }
  class func make() -> Self { self.init(name: "made") }
}

final class Dog: Animal {
  var age = 3
}

@inline(never) @_optimize(none) func buffers() -> Int {
  let buffer = Buffer.create(minimumCapacity: 8) { _ in 0 }
  buffer.withUnsafeMutablePointers { header, elements in
    for index in 0..<8 { (elements + index).initialize(to: "element number \(index) of the buffer") }
    header.pointee = 8
  }
  return buffer.header
}

@inline(never) @_optimize(none) func casts(_ number: Int) -> Int {
  let animals: [Animal] = [Dog(name: "a"), Animal(name: "b"), Dog.make()]
  let dogs = animals.compactMap { $0 as? Dog }
  let any: [Any] = dogs
  let paths: [PartialKeyPath<Dog>] = [\.age, \.name]
  let fields = Mirror(reflecting: dogs[0]).children.count
  return any.count + paths.count + fields + dogs[0][keyPath: \Dog.age] + number
}

@inline(never) @_optimize(none) func unmanaged() -> Int {
  let retained = Unmanaged.passRetained(Dog(name: "c"))
  let age = retained._withUnsafeGuaranteedRef { $0.age }
  _ = retained.retain()
  retained.release()
  return age + retained.takeRetainedValue().name.count
}

var sum = 0
for number in 0..<500 {
  sum += buffers() + casts(number) + unmanaged()
  sum += (try? JSONSerialization.jsonObject(with: Data("[1, {\"a\": 2}]".utf8)) as? [Any])?.count ?? 0
}
print(sum)
