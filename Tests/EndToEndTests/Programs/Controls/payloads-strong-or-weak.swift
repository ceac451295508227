// Enums whose cases share a word that is strong in one, weak, unowned or a number in another: all of it is alive.
// EXPECT silent
final class Object { var value = 1 }
struct Weak { weak var object: Object? }
struct Unowned { unowned var object: Object }
struct Borrowed { unowned(unsafe) var object: Object }
struct Two {
  var first: Object
  var second: Object
}
enum Reference {
  case strong(Object)
  case unowned(Unowned)
  case borrowed(Borrowed)
  case number(Int)
  case none
}
enum Wide {
  case two(Two)
  case one(Object)
  case mixed(Int, Object)
  case weak(Int, Weak)
  case any(Any)
  case text(String)
}
enum Numbers {
  case small(Int)
  case pair(UInt32, UInt32)
}
protocol Shape {}
struct Square: Shape { var owner: Object }
struct Large: Shape { var a, b, c, d: Object }
extension Object: Shape {}

final class Holder {
  var references: [Reference] = []
  var wide: [Wide] = []
  var optional: Two?
  var nested: Two??
  var closure: (() -> Int)?
  var shapes: [any Shape] = []
  var shape: any Shape = Object()
  var maybe: (any Shape)?
  var result: Result<Two, any Error>?
  var dictionary: [Int: Wide] = [:]
  var inline: (Reference, Wide, Reference) = (.strong(Object()), .one(Object()), .number(3))
}
nonisolated(unsafe) let holder = Holder()
nonisolated(unsafe) let owner = Object()

@inline(never) @_optimize(none) func fill() {
  holder.references = [
    .strong(Object()), .unowned(Unowned(object: owner)), .borrowed(Borrowed(object: owner)), .number(5), .none,
  ]
  holder.wide = [
    .two(Two(first: Object(), second: Object())), .one(Object()), .mixed(1, Object()), .weak(1, Weak(object: owner)),
    .any(Object()), .any(Large(a: Object(), b: Object(), c: Object(), d: Object())), .text("a text that is not small"),
  ]
  for index in 0..<20 { holder.dictionary[index] = holder.wide[index % holder.wide.count] }
  holder.wide.removeAll { if case .text = $0 { true } else { false } }
  holder.optional = Two(first: Object(), second: Object())
  holder.nested = .some(Two(first: Object(), second: Object()))
  let captured = Object()
  holder.closure = { captured.value }
  holder.shapes = [Object(), Square(owner: Object()), Large(a: Object(), b: Object(), c: Object(), d: Object())]
  holder.shape = Large(a: Object(), b: Object(), c: Object(), d: Object())
  holder.maybe = Square(owner: Object())
  holder.result = .success(Two(first: Object(), second: Object()))
}
/// Changes cases in place, even where the value is only known by its type's witnesses.
@inline(never) @_optimize(none) func replace<Value>(_ place: inout Value, _ value: Value) { place = value }

@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
fill()
replace(&holder.inline.0, .unowned(Unowned(object: owner)))
replace(&holder.inline.1, .two(Two(first: Object(), second: Object())))
replace(&holder.inline.2, .strong(Object()))
replace(&holder.nested, .some(.some(Two(first: Object(), second: Object()))))
scrub(20)
print(holder.references.count, holder.wide.count, holder.dictionary.count)
