import Observation
import Synchronization

// Types of all shapes for the naming tests. Their layouts are those of the compiler: offsets are what is tested.

final class Item: Sendable { let number = 1 }
protocol ItemDelegate: AnyObject {}
protocol Animal {}
protocol Source<Element> { associatedtype Element }
extension Item: ItemDelegate, Animal {}

struct Pair: Animal {
  var item: Item
  var count = 1
}
struct Large: Animal {
  var item: Item
  var a = 1, b = 2, c = 3, d = 4
}
struct References {
  var number = 0
  weak var weakItem: Item?
  unowned var owner: Item
  unowned(unsafe) var unsafeItem: Item
}
struct IntSource: Source {
  typealias Element = Int
  var item: Item
}
struct Wrapped<Value> { var value: Value }
struct ItemKey: Hashable {
  var item: Item
  static func == (left: ItemKey, right: ItemKey) -> Bool { left.item === right.item }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(item)) }
}
struct ItemError: Error {
  var code = 1
  var item: Item
}

enum State {
  case idle
  case loading(Item)
  case failed(Pair, Item)
  case sized(width: Int, height: Int, Item)
  case done(Any)
}
enum Choice {
  case nothing
  case something(Pair)
}
enum Holder {
  case empty
  case references(References)
}
enum Ambiguous {
  case weak(References)
  case strong(Item, Item, Item)
  case number(Int)
}
indirect enum Chain {
  case link(Item, Chain)
  case end
}

final class Strong {
  var item = Item()
  var optional: Item? = Item()
  var twice: Item?? = Item()
}
final class Weak {
  weak var object: Item?
  weak var delegate: (any ItemDelegate)?
  unowned var owner: Item
  unowned var optionalOwner: Item?
  unowned(unsafe) var unsafeOwner: Item
  let unmanaged: Unmanaged<Item>
  init(_ item: Item) {
    owner = item
    optionalOwner = item
    unsafeOwner = item
    unmanaged = .passUnretained(item)
    object = item
    delegate = item
  }
}
class Base {
  var inherited = Item()
  weak var weakBase: Item?
}
final class Derived: Base {
  var own = Item()
  weak var weakOwn: Item?
}
final class Structs {
  var pair: Pair
  var large: Large
  var wrapped: Wrapped<Wrapped<Item?>>
  var references: References
  init(_ item: Item) {
    pair = Pair(item: item)
    large = Large(item: item)
    wrapped = Wrapped(value: Wrapped(value: item))
    references = References(owner: item, unsafeItem: item)
  }
}
final class Tuples {
  var tuple: (Int, second: Item, Pair, (Item, inner: Item))
  var weakTuple: (Int, References)
  init(_ item: Item) {
    tuple = (1, item, Pair(item: item), (item, item))
    weakTuple = (1, References(owner: item, unsafeItem: item))
  }
}
final class Enums {
  var idle = State.idle
  var loading: State
  var failed: State
  var sized: State
  var done: State
  var choice: Choice
  var optionalState: State?
  init(_ item: Item) {
    loading = .loading(item)
    failed = .failed(Pair(item: item), item)
    sized = .sized(width: 1, height: 2, item)
    done = .done(item)
    choice = .something(Pair(item: item))
    optionalState = .loading(item)
  }
}
final class WeakEnums {
  var optional: References?
  var holder: Holder
  var ambiguous: Ambiguous
  init(_ item: Item) {
    optional = References(owner: item, unsafeItem: item)
    holder = .references(References(owner: item, unsafeItem: item))
    ambiguous = .strong(item, item, item)
  }
}
final class Existentials {
  var small: any Animal
  var large: any Animal
  var object: any Animal
  var any: Any
  var constrained: any Source<Int>
  var delegate: any ItemDelegate
  var anyObject: AnyObject
  var error: any Error
  var optional: (any Animal)?
  init(_ item: Item) {
    small = Pair(item: item)
    large = Large(item: item)
    object = item
    any = (1, item)
    constrained = IntSource(item: item)
    delegate = item
    anyObject = item
    error = ItemError(item: item)
    optional = Pair(item: item)
  }
}
final class Collections {
  var array: [Pair]
  var objects: [Item]
  var dictionary: [String: Pair]
  var set: Set<ItemKey>
  var result: Result<Item, any Error>
  var indirect: Chain
  var text = String(repeating: "undead ", count: 10)
  init(_ item: Item) {
    array = [Pair(item: item)]
    objects = [item]
    dictionary = ["one": Pair(item: item)]
    set = [ItemKey(item: item)]
    result = .success(item)
    indirect = .link(item, .end)
  }
}
final class Closures {
  var plain: (() -> Void)?
  lazy var lazyClosure: () -> Void = { [unowned self] in opaque(self).touch() }
  lazy var lazyItem = Item()
  var required: (Int) -> Int
  init(_ item: Item) {
    required = { opaque(item).number + $0 }
    let other = Pair(item: item, count: 2)
    plain = { _ = opaque(other).count + opaque(item).number }
  }
  func touch() {}
}
class GenericBase<Value, Object: AnyObject> {
  var value: Value
  weak var weakObject: Object?
  var wrapped: Wrapped<Value>
  init(_ value: Value, _ object: Object) {
    self.value = value
    wrapped = Wrapped(value: value)
    weakObject = object
  }
}
final class Specialized: GenericBase<Pair, Item> { var extra = Item() }

actor Counter {
  var item = Item()
  weak var weakItem: Item?
}
@Observable final class Model {
  var item = Item()
  weak var weakItem: Item?
}
@propertyWrapper struct WeakReference<Object: AnyObject> {
  weak var object: Object?
  var wrappedValue: Object? {
    get { object }
    set { object = newValue }
  }
  init(wrappedValue: Object?) { object = wrappedValue }
}
@propertyWrapper struct Logged<Value> {
  var wrappedValue: Value
}
final class WrapperUser {
  @WeakReference var parent: Item? = nil
  @Logged var child = Item()
}
final class Buffer: ManagedBuffer<Int, Pair> {}
final class Locked {
  let before = Item()
  let mutex = Mutex(Item())
  let after = Item()
}
final class Inline {
  var fixed: [2 of Pair]
  init(_ item: Item) { fixed = [Pair(item: item), Pair(item: item)] }
}
private final class Hidden { var item = Item() }
func makeHidden() -> AnyObject { Hidden() }
func makeLocal() -> AnyObject {
  final class Local { var item = Item() }
  return Local()
}
enum Namespace {
  final class Nested { var item = Item() }
}
extension Array { final class OfArray { var item = Item() } }

// Closures: what they capture is in the name of the function that makes them. Generic ones are kept from being
// specialized, which would make them another shape.

func closureOverTwo(_ item: Item, _ pair: Pair) -> () -> Void { { _ = (opaque(item), opaque(pair)) } }
func closureOverSmallValues(_ item: Item, _ small: Int8, _ flag: Bool) -> () -> Void {
  { _ = (opaque(small), opaque(item), opaque(flag), opaque(item)) }
}
func closureOverWeak(_ item: Item) -> () -> Void { { [weak item] in _ = opaque(item) } }
func closureOverWeakAndStrong(_ item: Item, _ other: Item) -> () -> Void {
  { [weak item] in _ = (opaque(item), opaque(other)) }
}
func closureOverUnowned(_ item: Item, _ other: Item) -> () -> Void {
  { [unowned item, unowned(unsafe) other] in _ = (opaque(item), opaque(other)) }
}
func closureOverVariable(_ item: Item) -> () -> Void {
  var pair = Pair(item: item)
  return {
    pair.count += 1
    _ = opaque(pair)
  }
}
func closureOverVariables(_ item: Item) -> () -> Void {
  var pair = Pair(item: item)
  var count = 0
  return {
    pair.count += 1
    count += 1
    _ = opaque((pair, count, item))
  }
}
func closureOverClosure(_ item: Item) -> () -> Void {
  let inner = closureOverTwo(item, Pair(item: item))
  return {
    inner()
    _ = opaque(item)
  }
}
func closureOverReferences(_ item: Item) -> () -> Void {
  let references = References(owner: item, unsafeItem: item)
  return { _ = (opaque(references), opaque(item)) }
}
func closureOverExistential(_ item: Item) -> () -> Void {
  let animal: any Animal = opaque(Pair(item: item))
  return { _ = (opaque(animal), opaque(item)) }
}
func closureOverEnum(_ item: Item) -> () -> Void {
  let state = opaque(State.loading(item))
  return { _ = (opaque(state), opaque(item)) }
}
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverGeneric<Value>(_ value: Value, _ item: Item) -> () -> Void { { _ = (opaque(value), opaque(item)) } }
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverGenericObject<Value>(_ object: GenericBase<Value, Item>, _ item: Item) -> () -> Void {
  { _ = (opaque(object), opaque(item)) }
}
typealias Callback<Value> = (Value) -> Void
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverCallbacks<Source: Sequence>(
  of source: Source.Type, _ next: Callback<Source.Element>?, _ end: (() -> Void)?, _ item: Item
) -> () -> Void {
  { _ = (next == nil, end?(), opaque(item)) }
}
func closureOverOptionalCallback(_ end: (() -> Void)?, _ item: Item) -> () -> Void { { _ = (end?(), opaque(item)) } }
struct Promise<Value> { let future: GenericBase<Value, Item> }
struct Unretained<Value> { unowned(unsafe) let future: GenericBase<Value, Item> }
struct Twice<Value> { let promise: Promise<Value>, value: Value }
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverPromise<Value>(_ promise: Promise<Value>, _ next: @escaping () -> Void) -> () -> Void {
  { _ = (opaque(promise), next()) }
}
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverOptionalPromise<Value>(_ promise: Promise<Value>?, _ item: Item) -> () -> Void {
  { _ = (opaque(promise), opaque(item)) }
}
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverUnretained<Value>(_ unretained: Unretained<Value>, _ item: Item) -> () -> Void {
  { _ = (opaque(unretained), opaque(item)) }
}
@inline(never) @_semantics("optimize.sil.specialize.generic.never")
func closureOverTwice<Value>(_ twice: Twice<Value>, _ item: Item) -> () -> Void {
  { _ = (opaque(twice), opaque(item)) }
}
func closureOverPack<each Value>(_ value: repeat each Value, item: Item) -> () -> Void {
  { _ = (opaque(item), (repeat each value)) }
}

// Values that need some making.

func makeClosures() -> Closures {
  let closures = Closures(Item())
  closures.lazyClosure()
  _ = closures.lazyItem
  return closures
}
func makeBuffer() -> AnyObject {
  let buffer = Buffer.create(minimumCapacity: 4) { _ in 1 }
  buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: Pair(item: Item()), count: 2) }
  return buffer
}
