// Closures that capture something odd, then a number, then an object: where the object lies depends on the size of what is odd.
// Compiled into the tests, and as a library of the program `captures-of-every-kind` in `Tests/EndToEndTests`, also optimised.

public final class CaptureTarget {
  public init() {}
}

public class CaptureBase<Value> {
  var value: Value?
  public init() {}
}
public protocol CaptureTagged: AnyObject {}
public protocol CaptureMarked: AnyObject {}
public protocol CaptureDelegate<Value>: AnyObject {
  associatedtype Value
}
public protocol CaptureSource<Value> {
  associatedtype Value
}
public protocol CaptureShown {}
final class CaptureHeir<Value>: CaptureBase<Value>, CaptureTagged, CaptureMarked, CaptureDelegate, CaptureShown {}
struct CaptureValue<Value>: CaptureSource, CaptureShown {
  var value: Value
}
struct CapturePair<Value> {
  var first: Value
  var flag: Int8
  var second: Value
}
enum CaptureChoice<Value> {
  case one(Value)
  case two(Int, Value)
  case none
}
struct CaptureToken: ~Copyable {
  var number: Int
}
struct CaptureProblem: Error {}
actor CaptureActor {}

public typealias CaptureCollector = (_ name: String, _ target: CaptureTarget, _ closure: @escaping () -> Void) -> Void

@inline(never) @_optimize(none) func keep<Value: ~Copyable>(_ value: borrowing Value) {}
@inline(never) @_optimize(none)
func keep<First, Second, each Other>(_ first: First, _ second: Second, _ others: repeat each Other) {}
@inline(never) @_optimize(none) func unseen<Value>(_ value: Value) -> Value { value }

/// Calls `collect` with closures of every kind. All that they do not own themselves lives on.
public func everyCapture(_ collect: @escaping CaptureCollector) {
  captures(of: 1 as Int8, "text", collect)
  captures(of: CaptureActor(), 2.5, collect)
  captures(of: [1, 2], CaptureValue(value: 1 as Int16), collect)
  captures(of: (1 as Int8, CaptureBase<Int>()), Optional("text"), collect)
  captures(of: { 1 } as () -> Int, 3 as Any, collect)
  plainCaptures(collect)
  functionCaptures(collect)
  objectCaptures(CaptureActor(), collect)
  elementCaptures([1 as Int8], collect)
  packCaptures(1 as Int8, "text", collect: collect)
}

nonisolated(unsafe) private var others: [AnyObject] = []

private func captures<First, Second>(of first: First, _ second: Second, _ collect: CaptureCollector) {
  func add<Odd>(_ name: String, _ odd: Odd) {
    let target = CaptureTarget()
    let number = unseen(7 as Int8)
    collect("\(name) as itself, \(First.self)", target) { keep(odd, number, target) }
  }
  let kind = "of \(First.self), \(Second.self)"
  let heir = CaptureHeir<First>()
  others.append(heir)
  add("T", first)
  add("U?", Optional(second))
  add("CapturePair<T>", CapturePair(first: first, flag: 1, second: first))
  let number = unseen(7 as Int8)
  do {
    let target = CaptureTarget()
    collect("T, U \(kind)", target) { keep(first, second, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned let odd: any CaptureDelegate<First> = heir
    collect("unowned any P<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned(unsafe) let odd: any CaptureDelegate<First> = heir
    collect("unowned(unsafe) any P<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    weak let odd: (any CaptureDelegate<First>)? = heir
    collect("weak any P<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: any CaptureDelegate<First> = heir
    collect("any P<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: (any CaptureDelegate<First>)? = heir
    collect("(any P<T>)? \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: any CaptureDelegate<First>.Type = CaptureHeir<First>.self
    collect("any P<T>.Type \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned let odd: CaptureBase<First> & CaptureTagged = heir
    collect("unowned Base<T> & P \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned(unsafe) let odd: CaptureBase<First> & CaptureTagged & CaptureMarked = heir
    collect("unowned(unsafe) Base<T> & P & Q \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    weak let odd: (CaptureBase<First> & CaptureTagged)? = heir
    collect("weak Base<T> & P \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: CaptureBase<First> & CaptureTagged = heir
    collect("Base<T> & P \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned let odd: CaptureBase<First>? = heir
    collect("unowned Base<T>? \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    weak let odd: CaptureBase<First>? = heir
    collect("weak Base<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: any CaptureSource<First> = CaptureValue(value: first)
    collect("any S<T> \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd = (first, 1 as Int8, second)
    collect("(T, Int8, U) \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: First.Type = First.self
    let another: Any.Type = unseen(Second.self)
    collect("T.Type \(kind)", target) { keep(odd, another, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd = CaptureChoice<Second>.two(1, second)
    collect("enum \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: (First) -> Second = { _ in second }
    collect("(T) -> U \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: ((First) -> Second)? = { _ in second }
    collect("((T) -> U)? \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: (function: (First) -> Second, flag: Int8) = ({ _ in second }, 1)
    collect("? tuple with (T) -> U \(kind)", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd = [first]
    let another: [any CaptureDelegate<First>] = [heir]
    collect("[T] \(kind)", target) { keep(odd, another, number, target) }
  }
  do {
    let target = CaptureTarget()
    var odd = first
    collect("var T \(kind)", target) {
      odd = unseen(odd)
      keep(number)
      keep(target)
    }
  }
}

private func plainCaptures(_ collect: CaptureCollector) {
  let heir = CaptureHeir<Int>()
  others.append(heir)
  let number = unseen(7 as Int8)
  do {
    let target = CaptureTarget()
    let odd = (unseen(1 as Int8), Int.self, unseen(2))
    collect("? tuple with a thin metatype", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: Int.Type? = unseen(Int.self)
    collect("? Int.Type?", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: Any = unseen(3)
    let shown: (any CaptureShown)? = nil
    let hashable: any Hashable & Sendable = unseen(3)
    let error: any Error = unseen(CaptureProblem())
    collect("Any, (any P)?, any Hashable & Sendable, any Error", target) {
      keep(odd, number, shown, hashable, error, number, target)
    }
  }
  do {
    let target = CaptureTarget()
    unowned let odd: any CaptureTagged & CaptureMarked = heir
    collect("unowned P & Q", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned(unsafe) let odd: (any AnyObject & CaptureShown)? = heir
    collect("unowned(unsafe) AnyObject & P", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    weak let odd: (any CaptureTagged & CaptureMarked & Sendable)? = nil
    collect("weak P & Q & Sendable", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    unowned let odd: (any CaptureDelegate<Int>)? = heir
    unowned let another: any AnyObject & Hashable = NamedCapture.shared
    unowned let third: any Actor = CaptureActor.shared
    collect("unowned (any P<Int>)?, AnyObject & Hashable, Actor", target) { keep(odd, another, third, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: any CaptureTagged.Type = CaptureHeir<Int>.self
    let another: any (CaptureTagged & CaptureShown).Type = CaptureHeir<Int>.self
    collect("any P.Type", target) { keep(odd, another, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd = unseen(SIMD4<Float>(repeating: 1))
    collect("SIMD4", target) { keep(number, odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: (Int8, CaptureBase<Int>, (Int16, Int8)) = unseen((1, heir, (2, 3)))
    collect("tuples", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let token = CaptureToken(number: unseen(1))
    collect("noncopyable in a box", target) {
      keep(token)
      keep(number, target)
    }
  }
}

private final class NamedCapture: Hashable {
  nonisolated(unsafe) static let shared = NamedCapture()
  static func == (one: NamedCapture, other: NamedCapture) -> Bool { one === other }
  func hash(into hasher: inout Hasher) {}
}
extension CaptureActor {
  static let shared = CaptureActor()
}

private func functionCaptures(_ collect: CaptureCollector) {
  let number = unseen(7 as Int8)
  let code: @convention(c) (Int32) -> Int32 = unseen({ $0 })
  collect("! @convention(c) alone", CaptureTarget()) { keep(code(1)) }
  do {
    let target = CaptureTarget()
    let another: (@convention(c) (Int32) -> Int32)? = unseen(code)
    collect("@convention(c)", target) { keep(code, another, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: @Sendable (Int) async throws -> Int = { $0 }
    collect("async function", target) { keep(odd, number, target) }
  }
  do {
    let target = CaptureTarget()
    let odd: (Int) -> Int = unseen({ $0 })
    let both: (function: (Int) -> Int, flag: Int8) = (odd, 1)
    collect("? tuple with a function", target) { keep(both, number, target) }
  }
}

private func objectCaptures<Object: AnyObject>(_ object: Object, _ collect: CaptureCollector) {
  others.append(object)
  let number = unseen(7 as Int8)
  collect("! U: AnyObject alone", CaptureTarget()) { keep(object) }
  do {
    let target = CaptureTarget()
    unowned let odd = object
    unowned(unsafe) let another = object
    weak let third = object
    collect("unowned, unowned(unsafe), weak U", target) { keep(odd, another, third, number, target) }
  }
}

private func elementCaptures<Elements: Collection>(_ elements: Elements, _ collect: CaptureCollector) {
  let target = CaptureTarget()
  let number = unseen(7 as Int8)
  let odd = elements.first!
  let index = elements.startIndex
  collect("? associated types", target) { keep(odd, index, number, target) }
}

private func packCaptures<each Value>(_ values: repeat each Value, collect: CaptureCollector) {
  let target = CaptureTarget()
  let number = unseen(7 as Int8)
  collect("pack", target) {
    repeat keep(each values)
    keep(number)
    keep(target)
  }
  let another = CaptureTarget()
  let odd = (repeat each values)
  collect("tuple of a pack", another) { keep(odd, number, another) }
}

/// Closures that capture nothing alive: weak references to objects that have died, or to such ones among others.
public func deadCaptures(_ collect: (_ name: String, _ closure: @escaping () -> Void) -> Void) {
  weak let object = unseen(CaptureBase<Int>())
  collect("weak object") { keep(object) }
  weak let tagged: (any CaptureTagged)? = unseen(CaptureHeir<Int>())
  collect("weak any P") { keep(tagged) }
  collect("weak any P, weak object") { keep(tagged, object) }
  genericDead(1 as Int8, collect)
}

private func genericDead<Value>(_ value: Value, _ collect: (String, @escaping () -> Void) -> Void) {
  weak let delegate: (any CaptureDelegate<Value>)? = unseen(CaptureHeir<Value>())
  weak let base: (CaptureBase<Value> & CaptureTagged)? = unseen(CaptureHeir<Value>())
  collect("weak any P<T>, weak Base<T> & Q") { keep(delegate, base) }
}
