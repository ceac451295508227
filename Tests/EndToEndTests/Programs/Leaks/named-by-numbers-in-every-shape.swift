// Cycles through fields of every shape, all named by live numbers: counts explain what types describe exactly.
// EXPECT leak kind=retainCycle types=App.ByOptionalClosure count=1
// EXPECT leak kind=retainCycle types=App.ByClosure count=1
// EXPECT leak kind=retainCycle types=App.ByArray count=1
// EXPECT leak kind=retainCycle types=App.ByDictionary count=1
// EXPECT leak kind=retainCycle types=App.BySet count=1
// EXPECT leak kind=retainCycle types=App.ByClassProtocol count=1
// EXPECT leak kind=retainCycle types=App.ByAny count=1
// EXPECT leak kind=retainCycle types=App.ByLargeExistential count=1
// EXPECT leak kind=retainCycle types=App.ByPayload count=1
// EXPECT leak kind=retainCycle types=App.ByOneOfPayloads count=1
// EXPECT leak kind=retainCycle types=App.ByTuple count=1
// EXPECT leak kind=retainCycle types=App.ByArrayOfAny count=1
// EXPECT leak kind=retainCycle types=App.ByDictionaryOfClosures count=1
// EXPECT leak kind=retainCycle types=App.ByLazyClosure count=1
// EXPECT leak kind=retainCycle types=App.ByResult count=1
// EXPECT leak kind=retainCycle types=App.BySecondOfTwo count=1
// EXPECT leak kind=retainCycle types=App.ByInherited count=1
// EXPECT leak kind=retainCycle types=App.ByGeneric<Any> count=1
// EXPECT leak kind=retainCycle types=App.ByHeirOfDecoder count=1
// EXPECT leak kind=retainCycle types=App.ByManyValues count=1
// EXPECT leak kind=retainCycle types=App.BySlice count=1
// EXPECT leak kind=retainCycle types=App.ByTree count=1
// EXPECT leak kind=retainCycle types=App.ByArrayOfOptionals count=1
// EXPECT leak kind=retainCycle types=App.ByGeneric<(* count=1
import Foundation

protocol Reference: AnyObject {}
protocol Value {}
struct Large: Value { var a, b, c, d: AnyObject }
struct Empty: Value {}
enum Single {
  case none
  case some(AnyObject)
}
enum Both {
  case first(Middle)
  case second(Middle)
  case none
}
indirect enum Tree {
  case leaf(Middle)
  case node(Tree, Tree)
}
nonisolated(unsafe) var identifiers: [ObjectIdentifier] = []
class Named: Reference { init() { identifiers.append(ObjectIdentifier(self)) } }
final class Middle: Named { var next: Any? }
final class ByOptionalClosure: Named { var action: (() -> Void)? }
final class ByClosure: Named { var action: () -> Void = {} }
final class ByArray: Named { var list: [ByArray] = [] }
final class ByDictionary: Named { var table: [String: ByDictionary] = [:] }
final class BySet: Named, Hashable {
  var members: Set<BySet> = []
  static func == (left: BySet, right: BySet) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
final class ByClassProtocol: Named { var other: (any Reference)? }
final class ByAny: Named { var value: Any = 1 }
final class ByLargeExistential: Named { var value: any Value = Empty() }
final class ByPayload: Named { var state = Single.none }
final class ByOneOfPayloads: Named { var state = Both.none }
final class ByTuple: Named { var pair: (Int, (ByTuple?, String)) = (1, (nil, "")) }
final class ByArrayOfAny: Named { var list: [Any] = [] }
final class ByDictionaryOfClosures: Named { var table: [String: () -> Int] = [:] }
final class ByLazyClosure: Named { lazy var action: () -> ByLazyClosure = { self } }
final class ByResult: Named { var result: Result<ByResult, any Error>? }
final class BySecondOfTwo: Named {
  var two: (first: BySecondOfTwo?, second: BySecondOfTwo?)
  var text = String(repeating: "a long text", count: 9)
}
class Parent: Named { var object: AnyObject? }
final class ByInherited: Parent { var number = 1 }
final class ByGeneric<Content>: Named { var content: Content? }
final class ByHeirOfDecoder: JSONDecoder, @unchecked Sendable {
  var itself: ByHeirOfDecoder?
  override init() {
    super.init()
    identifiers.append(ObjectIdentifier(self))
  }
}
final class ByManyValues: Named {
  var data = Data(count: 100)
  var address = URL(string: "http://example.com/path")
  var identifier = UUID()
  var date = Date()
  var itself: ByManyValues?
}
final class BySlice: Named { var slice: ArraySlice<BySlice> = [] }
final class ByTree: Named { var tree: Tree? }
final class ByArrayOfOptionals: Named { var list: [ByArrayOfOptionals?] = [] }

@inline(never) @_optimize(none) func closures() {
  let optional = ByOptionalClosure()
  optional.action = { _ = optional }
  let closure = ByClosure()
  closure.action = { _ = closure }
  let table = ByDictionaryOfClosures()
  table.table = ["count": { table.table.count }]
  let lazily = ByLazyClosure()
  _ = lazily.action()
}
@inline(never) @_optimize(none) func collections() {
  let array = ByArray()
  array.list = [array, array]
  let dictionary = ByDictionary()
  dictionary.table = ["one": dictionary, "two": dictionary]
  let set = BySet()
  set.members = [set]
  let any = ByArrayOfAny()
  any.list = [1, any, "text", any]
  let slice = BySlice()
  slice.slice = [slice, slice, slice][1...]
  let optionals = ByArrayOfOptionals()
  optionals.list = [optionals, nil]
}
@inline(never) @_optimize(none) func existentials() {
  let reference = ByClassProtocol()
  reference.other = reference
  let any = ByAny()
  any.value = any
  let large = ByLargeExistential()
  large.value = Large(a: large, b: large, c: large, d: large)
  let generic = ByGeneric<Any>()
  generic.content = generic
  let pair = ByGeneric<(Int, AnyObject)>()
  pair.content = (1, pair)
}
@inline(never) @_optimize(none) func enums() {
  let single = ByPayload()
  single.state = .some(single)
  let both = ByOneOfPayloads()
  let middle = Middle()
  middle.next = both
  both.state = .second(middle)
  let result = ByResult()
  result.result = .success(result)
  let tree = ByTree()
  let leaf = Middle()
  leaf.next = tree
  tree.tree = .node(.leaf(leaf), .leaf(leaf))
}
@inline(never) @_optimize(none) func fields() {
  let tuple = ByTuple()
  tuple.pair.1.0 = tuple
  let second = BySecondOfTwo()
  second.two.second = second
  let inherited = ByInherited()
  inherited.object = inherited
  let decoder = ByHeirOfDecoder()
  decoder.itself = decoder
  let values = ByManyValues()
  values.itself = values
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
closures()
collections()
existentials()
enums()
fields()
scrub(20)
print(identifiers.count)
