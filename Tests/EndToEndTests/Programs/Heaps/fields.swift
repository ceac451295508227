// Stored properties of every kind: each reference once, with its name and what it is worth.
// EXPECT silent
// LIBRARY Library/HeapTruth.swift
import Foundation
import HeapTruth

protocol Thing {}
protocol ClassThing: AnyObject {}
extension Leaf: Thing, ClassThing {}
struct Pair: Thing {
  var a: Leaf
  var number: Int
  var b: Other?
}
struct Large: Thing {
  var numbers = (1, 2, 3)
  var leaf: Leaf
  var text: String
}
enum Single {
  case leaf(Leaf)
  case none, other
}
enum Several {
  case leaf(Leaf)
  case other(Other)
  case none
}
enum Mixed {
  case leaf(Leaf)
  case pair(Pair)
  case number(Int)
  case text(String)
}
enum Half {
  case plain(Int)
  indirect case boxed(Leaf, Int)
}
struct Generic<T> {
  var value: T
  var list: [T]
}
@propertyWrapper struct Wrapper<T> { var wrappedValue: T }
struct Failure: Error { var leaf: Leaf }
class Base {
  var base = Leaf()
}
final class Derived<T>: Base {
  var own: T
  init(_ own: T) { self.own = own }
}

final class Fields {
  var plain = Leaf()
  var optional: Leaf? = Leaf()
  var twice: Leaf?? = Leaf()
  var nothing: Leaf?
  var single = Single.leaf(Leaf())
  var several = Several.other(Other())
  var mixed = Mixed.leaf(Leaf())
  var mixedPair = Mixed.pair(Pair(a: Leaf(), number: 1, b: Other()))
  var tuple = (Leaf(), 3, Other())
  var pair = Pair(a: Leaf(), number: 2, b: Other())
  var maybePair: Pair? = Pair(a: Leaf(), number: 2, b: nil)
  var generic = Generic(value: Leaf(), list: [Leaf()])
  var any: Any = Leaf()
  var object: AnyObject = Leaf()
  var thing: any Thing = Leaf()
  var classThing: any ClassThing = Leaf()
  var both: (any Thing & ClassThing)? = Leaf()
  var anyPair: Any = Pair(a: Leaf(), number: 1, b: nil)
  var anyLarge: any Thing = Large(leaf: Leaf(), text: "")
  @Wrapper var wrapped = Leaf()
  lazy var later = Leaf()
  unowned var unowned: Leaf
  weak var weak: Leaf?
  unowned(unsafe) var unsafe: Leaf
  var unmanaged: Unmanaged<Leaf>
  var half = Half.boxed(Leaf(), 3)
  var error: any Error = Failure(leaf: Leaf())
  var result: Result<Leaf, any Error> = .success(Leaf())
  var type: Any.Type = Leaf.self
  init(_ shared: Leaf) {
    (unowned, weak, unsafe, unmanaged) = (shared, shared, shared, .passUnretained(shared))
  }
}
nonisolated(unsafe) var shared = Leaf()
nonisolated(unsafe) var fields = Fields(shared)
nonisolated(unsafe) var derived = Derived(("text", Leaf()))

@inline(never) func tellAll() {
  let own = address(fields)
  func holds(_ field: String, _ target: AnyObject, _ strength: String = "counted") {
    tellObject(target)
    tellReference(own, field, address(target), strength)
    if strength == "counted" { tellOwned(address(target), field) }
  }
  tellObject(fields)
  tellRoot(own, "fields")
  tellRoot(address(shared), "shared")
  holds("plain", fields.plain)
  holds("optional", fields.optional!)
  holds("twice", fields.twice!!)
  if case .leaf(let leaf) = fields.single { holds("single.leaf", leaf) }
  if case .other(let other) = fields.several { holds("several", other) }
  if case .leaf(let leaf) = fields.mixed { holds("mixed", leaf, "counted|raw") }
  if case .pair(let pair) = fields.mixedPair {
    holds("mixedPair", pair.a, "counted|raw")
    holds("mixedPair.pair.b", pair.b!, "counted|raw")
  }
  holds("tuple.0", fields.tuple.0)
  holds("tuple.2", fields.tuple.2)
  holds("pair.a", fields.pair.a)
  holds("pair.b", fields.pair.b!)
  holds("maybePair.a", fields.maybePair!.a)
  holds("generic.value", fields.generic.value)
  holds("any", fields.any as AnyObject)
  holds("object", fields.object)
  holds("thing", fields.thing as AnyObject)
  holds("classThing", fields.classThing)
  holds("both", fields.both! as AnyObject)
  holds("anyPair", (fields.anyPair as! Pair).a)
  holds("_wrapped.wrappedValue", fields.wrapped)
  holds("later", fields.later)
  holds("unowned", shared, "weak")
  holds("weak", shared, "weak")
  holds("unsafe", shared, "raw")
  holds("unmanaged", shared, "raw")
  if case .success(let leaf) = fields.result { holds("result", leaf) }
  if case .boxed(let leaf, _) = fields.half { tellOwned(address(leaf), "half") }
  tellOwned(address((fields.anyLarge as! Large).leaf), "anyLarge")
  tellOwned(address(fields.generic.list[0]), "generic.list")
  tellReference(address(derived), "base", address(derived.base))
  tellReference(address(derived), "own.1", address(derived.own.1))
}
tellAll()
exit(0)
