// Result, Error, Any, existentials of every shape, metatypes, key paths, mirrors, optionals of optionals.
// EXPECT silent
protocol Shape {
  var area: Double { get }
}
protocol Marked: AnyObject {}
final class Circle: Shape, Marked {
  var area = 3.1
}
struct Square: Shape {
  var side = 2.0
  var area: Double { side * side }
}
struct Wide: Shape {
  var first = 1.0
  var second = 2.0
  var third = 3.0
  var owner = Circle()
  var area: Double { first }
}
struct Failure: Error {
  var circle = Circle()
  var text = "failed"
}
var shapes: [any Shape] = []
var anything: [Any] = []
var marked: [any Marked] = []
var composed: [any Shape & Marked] = []
var results: [Result<Circle, any Error>] = []
var errors: [any Error] = []
var types: [Any.Type] = [Circle.self, Square.self, [Int: Circle].self]
var paths: [AnyKeyPath] = []
var mirrors: [Mirror] = []
var deep: Circle??? = Circle()
var hashables: [AnyHashable] = []

@inline(never) func fill() {
  for index in 0..<50 {
    shapes += [Circle(), Square(), Wide()]
    anything += [Circle(), Wide(), index, (index, Circle()), "text \(index) that is long enough", [Circle()]]
    marked.append(Circle())
    composed.append(Circle())
    results.append(index % 2 == 0 ? .success(Circle()) : .failure(Failure()))
    errors.append(Failure())
    hashables.append(AnyHashable([index, index]))
  }
  paths = [\Wide.owner.area, \Square.side, \[Int][3], \Circle.area]
  mirrors = [Mirror(reflecting: Wide()), Mirror(reflecting: Circle())]
}
fill()
print(shapes.count, anything.count, marked.count, composed.count, results.count, errors.count, types.count)
print(paths.count, mirrors.count, hashables.count)
