// Messages to dead objects, one in each run. The optimiser makes one function of those that only differ in the type that they make.
// EXPECT crash
@inline(never) @_optimize(none) func done() {}
@inline(never) func drop<Object: AnyObject>(_ object: Unmanaged<Object>) {
  object.release()
  done()
}
var uses: [String: () -> Void] = [:]
func register<Object: AnyObject>(
  _ name: String, _ make: @escaping () -> Unmanaged<Object>, _ use: @escaping (Unmanaged<Object>) -> Void
) {
  uses[name] = {
    let object = make()
    drop(object)
    use(object)
  }
}

// CASE existential
// ARGS existential
// A message through an existential that nobody retained.
// EXPECT zombie kind=method|retain|field type=App.Printer allocated=make freed=drop used=show
protocol Figure: AnyObject {
  func area() -> Int
}
class Printer: Figure {
  var side = 3
  func area() -> Int { side * side }
}
@inline(never) func makePrinter() -> Unmanaged<Printer> { Unmanaged.passRetained(Printer()) }
@inline(never) func show(_ printer: Unmanaged<Printer>) {
  let shape: any Figure = unsafeBitCast(printer.toOpaque(), to: Printer.self)
  print(shape.area())
}
register("existential", makePrinter, show)

// CASE final-method
// ARGS final
// A method of a final class is no message in any build: its fields are.
// EXPECT zombie kind=field|retain type=App.Reader allocated=make freed=drop used=read
final class Reader {
  var lines: [String] = ["a"]
  @inline(never) func read() -> Int { lines.count }
}
@inline(never) func makeReader() -> Unmanaged<Reader> { Unmanaged.passRetained(Reader()) }
register("final", makeReader) { print($0._withUnsafeGuaranteedRef { $0.read() }) }

// CASE generic-class
// ARGS generic
// A message to a freed object of a generic class, named with its arguments.
// EXPECT zombie in=debug kind=method type=App.Cache<Swift.String,*Swift.Int> member=count allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field type=App.Cache<Swift.String,*Swift.Int> allocated=make freed=drop used=ask
class Cache<Key: Hashable, Value> {
  var values: [Key: Value] = [:]
  func count() -> Int { values.count }
}
class Bounded<Value>: Cache<String, Value> {
  override func count() -> Int { 1 }
}
@inline(never) @_optimize(none) func makeCache() -> Unmanaged<Cache<String, Int>> { Unmanaged.passRetained(Cache()) }
@inline(never) @_optimize(none) func ask(_ cache: Unmanaged<Cache<String, Int>>) {
  print(cache._withUnsafeGuaranteedRef { $0.count() })
}
register("generic", makeCache, ask)

// CASE nested-class
// ARGS nested
// A message to a freed object of a class inside a generic struct.
// EXPECT zombie in=debug kind=method type=*Outer*Inner* member=value allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field type=*Outer*Inner* allocated=make freed=drop used=ask
struct Outer<Element> {
  class Inner {
    var stored: [Element] = []
    func value() -> Int { stored.count }
  }
}
@inline(never) @_optimize(none) func makeInner() -> Unmanaged<Outer<Int>.Inner> { Unmanaged.passRetained(.init()) }
@inline(never) @_optimize(none) func ask(_ inner: Unmanaged<Outer<Int>.Inner>) {
  print(inner._withUnsafeGuaranteedRef { $0.value() })
}
register("nested", makeInner, ask)

// CASE noncopyable-generic
// ARGS noncopyable
// A class with a parameter that need not be copyable, and a pack.
// EXPECT zombie in=debug kind=method type=App.Owner<*> member=value allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field|retain type=App.Owner<*> allocated=make freed=drop used=ask
struct Handle: ~Copyable {
  var number = 1
}
class Owner<Content: ~Copyable> {
  var content: Content
  init(_ content: consuming Content) { self.content = content }
  func value() -> Int { 1 }
}
class SpecialOwner<Content: ~Copyable>: Owner<Content> {
  override func value() -> Int { 2 }
}
@inline(never) @_optimize(none) func makeOwner() -> Unmanaged<Owner<Handle>> { Unmanaged.passRetained(Owner(Handle())) }
@inline(never) @_optimize(none) func ask(_ owner: Unmanaged<Owner<Handle>>) {
  print(owner._withUnsafeGuaranteedRef { $0.value() })
}
register("noncopyable", makeOwner, ask)

// CASE inherited-method
// ARGS inherited
// An inherited method: the type is that of the object, the method that of its superclass.
// EXPECT zombie kind=method type=App.Leaf member=Node.describe() allocated=make freed=drop used=show
class Node {
  var name = "n"
  func describe() -> String { name }
}
class Middle: Node {
  override func describe() -> String { "middle" }
}
class Leaf: Node {
  var value = 1
}
@inline(never) @_optimize(none) func makeNode(_ leaf: Bool) -> Unmanaged<Node> {
  Unmanaged.passRetained(leaf ? Leaf() as Node : Middle())
}
@inline(never) @_optimize(none) func show(_ node: Unmanaged<Node>) {
  print(node._withUnsafeGuaranteedRef { $0.describe() })
}
register("inherited", { makeNode(true) }, show)

// CASE override
// ARGS override
// The report names the override that would have run, not the method that the caller sees.
// EXPECT zombie kind=method type=App.Circle member=Circle.area() allocated=make freed=drop used=measure
class Shape {
  func area() -> Double { 0 }
}
class Circle: Shape {
  var radius = 2.0
  override func area() -> Double { radius * radius * 3.14 }
}
class Square: Shape {
  var side = 2.0
  override func area() -> Double { side * side }
}
@inline(never) @_optimize(none) func makeShape(_ round: Bool) -> Unmanaged<Shape> {
  Unmanaged.passRetained(round ? Circle() as Shape : Square())
}
@inline(never) @_optimize(none) func measure(_ shape: Unmanaged<Shape>) {
  print(shape._withUnsafeGuaranteedRef { $0.area() })
}
register("override", { makeShape(true) }, measure)

// CASE class-method
// ARGS class-method
// A class method through the type of a dead object.
// EXPECT zombie in=debug kind=method type=App.Base|App.Derived member=limit() allocated=make freed=drop used=ask
// EXPECT zombie in=release kind=method|field|cast|retain type=App.Base|App.Derived allocated=make freed=drop used=ask
class Base {
  var first = 1
  class func limit() -> Int { 5 }
}
class Derived: Base {
  var second = 2
  override class func limit() -> Int { 6 }
}
@inline(never) @_optimize(none) func makeBase() -> Unmanaged<Base> { Unmanaged.passRetained(Derived() as Base) }
@inline(never) @_optimize(none) func ask(_ base: Unmanaged<Base>) -> Int {
  base._withUnsafeGuaranteedRef { type(of: $0).limit() }
}
register("class-method", makeBase) { print(ask($0)) }

// CASE cast
// ARGS cast
// A dead object is cast to its subclass.
// EXPECT zombie kind=cast|retain|field type=App.Derived allocated=make freed=drop used=examine
@inline(never) @_optimize(none) func examine(_ base: Unmanaged<Base>) -> Bool {
  base._withUnsafeGuaranteedRef { ($0 as? Derived) != nil }
}
register("cast", makeBase) { print(examine($0)) }

// CASE accessor-read
// ARGS read
// A property of a dead object that is implemented by a `_read` coroutine.
// EXPECT zombie in=debug kind=method type=App.SpecialText member=text allocated=make freed=drop used=access
// EXPECT zombie in=release kind=method|field type=App.SpecialText allocated=make freed=drop used=access
class Text {
  var stored = "text"
  var text: String {
    _read { yield stored }
    _modify { yield &stored }
  }
}
class SpecialText: Text {
  override var text: String {
    _read { yield stored }
    _modify { yield &stored }
  }
}
@inline(never) @_optimize(none) func makeText() -> Unmanaged<Text> { Unmanaged.passRetained(SpecialText() as Text) }
@inline(never) @_optimize(none) func access(_ text: Unmanaged<Text>) {
  print(text._withUnsafeGuaranteedRef { $0.text.count })
  done()
}
register("read", makeText, access)

// The accessors of a property of a dead object of an open hierarchy.
class Model {
  var level = 1
}
class Special: Model {
  override var level: Int {
    get { super.level + 1 }
    set { super.level = newValue }
  }
}
@inline(never) @_optimize(none) func makeModel() -> Unmanaged<Model> { Unmanaged.passRetained(Special() as Model) }

// CASE accessor-getter
// ARGS get
// EXPECT zombie in=debug kind=method type=App.Special member=level allocated=make freed=drop used=getLevel
// EXPECT zombie in=release kind=method|field type=App.Special member=level allocated=make freed=drop used=getLevel
@inline(never) @_optimize(none) func getLevel(_ model: Unmanaged<Model>) {
  print(model._withUnsafeGuaranteedRef { $0.level })
  done()
}
register("get", makeModel, getLevel)

// CASE accessor-setter
// ARGS set
// EXPECT zombie in=debug kind=method type=App.Special member=level allocated=make freed=drop used=setLevel
// EXPECT zombie in=release kind=method|field type=App.Special member=level allocated=make freed=drop used=setLevel
@inline(never) @_optimize(none) func setLevel(_ model: Unmanaged<Model>) {
  model._withUnsafeGuaranteedRef { $0.level = 9 }
  done()
}
register("set", makeModel, setLevel)

// CASE accessor-modify
// ARGS modify
// EXPECT zombie in=debug kind=method type=App.Special member=level allocated=make freed=drop used=changeLevel
// EXPECT zombie in=release kind=method|field type=App.Special member=level allocated=make freed=drop used=changeLevel
@inline(never) @_optimize(none) func changeLevel(_ model: Unmanaged<Model>) {
  model._withUnsafeGuaranteedRef { $0.level += 1 }
  done()
}
register("modify", makeModel, changeLevel)

// CASE unowned-unsafe
// ARGS unowned
// A delegate kept as `unowned(unsafe)` is called after its owner let it go.
// EXPECT zombie kind=method type=App.Poller member=tick() allocated=make freed=forget used=poll
class Poller {
  var count = 1
  func tick() -> Int { count + 41 }
}
final class Loop {
  unowned(unsafe) let poller: Poller
  init(_ poller: Poller) { self.poller = poller }
}
@inline(never) func makePoller() -> Poller { Poller() }
@inline(never) func forget(_ poller: inout Poller?) {
  poller = nil
  done()
}
@inline(never) @_optimize(none) func poll(_ loop: Loop) {
  print(loop.poller.tick())
}
uses["unowned"] = {
  var poller: Poller? = makePoller()
  let loop = Loop(poller!)
  forget(&poller)
  poll(loop)
}

// CASE outstanding-references
// ARGS outstanding
// Weak and unowned references to the dead object are outstanding, so the runtime itself keeps its memory.
// EXPECT zombie kind=method|retain type=App.Target allocated=make freed=forget used=send
class Target {
  var number = 1
  func act() -> Int { number }
}
final class References {
  weak var weakly: Target?
  unowned var safely: Target
  unowned(unsafe) var unsafely: Target
  init(_ target: Target) {
    weakly = target
    safely = target
    unsafely = target
  }
}
@inline(never) @_optimize(none) func makeTarget() -> Target { Target() }
@inline(never) func forget(_ target: inout Target?) {
  target = nil
  done()
}
@inline(never) @_optimize(none) func send(_ references: References) {
  print(references.weakly == nil)
  print(references.unsafely.act())
}
uses["outstanding"] = {
  var target: Target? = makeTarget()
  let references = References(target!)
  forget(&target)
  send(references)
}

// CASE stored-again
// ARGS stored
// A dead object is put into a collection: a retain at a place far from the one that will crash.
// EXPECT zombie kind=retain type=App.Entry allocated=make freed=drop used=keep
final class Entry {
  var value = 1
}
@inline(never) func makeEntry() -> Unmanaged<Entry> { Unmanaged.passRetained(Entry()) }
@inline(never) @_optimize(none) func keep(_ entry: Unmanaged<Entry>, _ list: inout [Entry]) {
  list.append(entry.takeUnretainedValue())
}
nonisolated(unsafe) var list: [Entry] = []
uses["stored"] = {
  let entry = makeEntry()
  drop(entry)
  keep(entry, &list)
  print(list.count)
}

uses[CommandLine.arguments[1]]?()
print("not reached")
