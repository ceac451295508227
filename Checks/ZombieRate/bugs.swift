// swift-format-ignore-file: OnlyOneTrailingClosureArgument

import Glibc

// The forms of the bugs. Each object has a type of its own.

class Method {
  var n = 1
  func act() -> Int { n }
}
final class SpecialMethod: Method { override func act() -> Int { n + 1 } }
final class Field { var a = number0(), b = number0() }
final class Written { var a = 1, b = 2 }
final class Name { let name = "a name that is longer than fifteen bytes" }
final class Child { var n = number0() }
final class Parent {
  var child = child0
  init() { child = child1() }
}
final class Handler { let handle = handle0 }
final class List { let items = items0 }
protocol Delegate: AnyObject { func changed() -> Int }
class Listener: Delegate {
  var n = number0()
  func changed() -> Int { n }
}
class Generic<T> {
  var value: T
  init(_ value: T) { self.value = value }
  func get() -> T { value }
}
class Base { var base = 1 }
class Derived: Base { var derived = 2 }
final class Released { var n = number0() }
final class Retained { var n = number0() }
final class Taken { var n = number0() }
final class Cast { var n = number0() }
class Kind {
  class func number() -> Int { 4 }
  var n = number0()
}
final class SpecialKind: Kind { override class func number() -> Int { 5 } }
final class Optional { var value: Int? = 1 }
final class Path { var n = 1 }
class Guaranteed {
  var n = 1
  func act() -> Int { n }
}
class Context {
  var n = 1
  func call() -> Int { n }
}
class Accessor {
  var stored = (1, 2)
  var value: Int {
    get { stored.0 }
    set { stored.0 = newValue }
  }
}
final class Stored { var n = number0(), more = (1, 2, 3, 4, 5, 6) }
final class Captured { var n = number0(), more = (1, 2, 3, 4, 5, 6) }
final class Freed { let n = 1 }
class Asked {
  let n = 1
  func act() -> Int { n }
}
final class Session { var requests = 1, bytes = 2 }
actor Account { nonisolated let number = number0() }
class Resource {
  nonisolated(unsafe) var open = 1
  func isOpen() -> Bool { open > 0 }
}
actor Bank {
  nonisolated let balance = number0()
  nonisolated func read() -> Int { balance }
}
protocol ChannelHandler: AnyObject { func channelRead(_ byte: UInt8) -> Int }
class Decoder: ChannelHandler {
  var read = 0
  func channelRead(_ byte: UInt8) -> Int {
    read += Int(byte)
    return read
  }
}
class HandlerContext {
  var handler: Unmanaged<AnyObject>?
  var next = 1
  func fire() -> Int { next }
}
final class Promise { var waiting = 0, result = 1 }
final class Pool { var free = 3, used = 4 }
final class Large { var words = (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) }
final class Timer { var fired = 0, interval = 1.5 }

/// Not known when it is compiled.
@inline(never) @_optimize(none) func number0() -> Int { 1 }
@inline(never) @_optimize(none) func child1() -> Child { child0 }

nonisolated(unsafe) let child0 = Child()
nonisolated(unsafe) let handle0: (Int) -> Int = { $0 &+ child0.n }
let items0 = Array(1...20)

/// Fields behind the first two words of a block of 64 bytes.
private func number(_ block: UnsafeMutableRawPointer, at offset: Int = 32) -> Int {
  block.load(fromByteOffset: offset, as: Int.self)
}

/// What C code calls with the context that it was given.
typealias Callback = @convention(c) (UnsafeMutableRawPointer?) -> Void
@inline(never) @_optimize(none) func callBack(_ function: Callback, _ context: UnsafeMutableRawPointer?) {
  function(context)
}

@inline(never) @_optimize(none) func unretained<T: AnyObject>(_ reference: Unmanaged<T>) -> T {
  // Without a retain: the reference is as the program has it in an `unowned(unsafe)` variable.
  unsafeBitCast(reference.toOpaque(), to: T.self)
}

struct Unsafe<T: AnyObject> { unowned(unsafe) let object: T }

/// Uses of fields and methods with nothing retained, as optimised code does.
private func borrow<T: AnyObject>(_ reference: Unmanaged<T>, _ body: (T) -> Int) {
  take(reference._withUnsafeGuaranteedRef { body($0) })
}

let objects: [Bug] = [
  object("unowned-unsafe-method", { Method() }) { reference in borrow(reference) { $0.act() } },
  object("override", { SpecialMethod() as Method }) { reference in borrow(reference) { $0.act() } },
  object("field", { Field() }) { reference in borrow(reference) { $0.b } },
  object("field-written", { Written() }) { reference in
    borrow(reference) {
      $0.b = 3
      return 1
    }
  },
  object("field-string", { Name() }) { reference in borrow(reference) { $0.name.utf8.count } },
  object("field-reference", { Parent() }) { reference in borrow(reference) { $0.child.n } },
  object("field-closure", { Handler() }) { reference in borrow(reference) { $0.handle(1) } },
  object("field-array", { List() }) { reference in borrow(reference) { $0.items[3] } },
  object("protocol", { Listener() }) { reference in borrow(reference) { ($0 as any Delegate).changed() } },
  object("generic", { Generic(7) }) { reference in borrow(reference) { $0.get() } },
  object("subclass-field", { Derived() }) { reference in borrow(reference) { $0.derived } },
  object("over-release", { Released() }, clean: { $0.retain().release() }) { $0.release() },
  object("retain", { Retained() }, clean: { $0.retain().release() }) { _ = $0.retain() },
  object("take-unretained", { Taken() }) { take($0.takeUnretainedValue().n) },
  object("cast", { Cast() }) { reference in borrow(reference) { ($0 as AnyObject) is any Delegate ? 1 : 0 } },
  object("class-method", { sink == 1 ? SpecialKind() : Kind() }) { reference in
    borrow(reference) { type(of: $0).number() }
  },
  object("optional-field", { Optional() }) { reference in borrow(reference) { $0.value ?? 0 } },
  object("key-path", { Path() }) { reference in borrow(reference) { $0[keyPath: \.n] } },
  object("guaranteed", { Guaranteed() }) { reference in borrow(reference) { $0.act() } },
  object("accessor", { Accessor() }) { reference in
    borrow(reference) {
      $0.value += 1
      return $0.value
    }
  },
  object("c-context", { Context() }) { reference in
    callBack({ take(Unmanaged<Context>.fromOpaque($0!)._withUnsafeGuaranteedRef { $0.call() }) }, reference.toOpaque())
  },
  object("stored-again", { Stored() }) { reference in
    var kept: [Stored] = [unretained(reference)]
    take(kept.count)
    kept = []
  },
  object("captured-again", { Captured() }) { reference in
    let object = unretained(reference)
    let closure: () -> Int = { object.n }
    take(closure())
  },
  object("actor-field", { Account() }) { reference in borrow(reference) { $0.number } },
  object("actor-method", { Bank() }) { reference in borrow(reference) { $0.read() } },
  object("handler", { Decoder() }) { reference in borrow(reference) { ($0 as any ChannelHandler).channelRead(1) } },
  object("handler-context", { HandlerContext() }) { reference in borrow(reference) { $0.fire() } },
  object("promise", { Promise() }) { reference in
    borrow(reference) {
      $0.result = 2
      return 1
    }
  },
  object("large-object", { Large() }) { reference in borrow(reference) { $0.words.15 } },
  object("timer-target", { Timer() }) { reference in
    borrow(reference) {
      $0.fired += 1
      return $0.fired
    }
  },
]

// MARK: Races

let races: [Bug] = [
  Bug(name: "race-freed-elsewhere") { isClean in
    var strong: Session? = Session()
    let reference = Unmanaged.passUnretained(strong!)
    let alive = words(of: strong!)
    let use = { borrow(reference) { $0.bytes } }
    if isClean { use() }
    worker.run { drop(&strong) }
    if !isClean { revive(reference.toOpaque(), as: alive, use) }
  },
  Bug(name: "race-used-elsewhere") { isClean in
    var strong: Resource? = Resource()
    let reference = Unmanaged.passUnretained(strong!)
    let alive = words(of: strong!)
    let use = { borrow(reference) { $0.isOpen() ? 1 : 0 } }
    if isClean { worker.run(use) }
    drop(&strong)
    if !isClean { worker.run { revive(reference.toOpaque(), as: alive, use) } }
  },
  Bug(name: "race-raw") { isClean in
    let block = allocate(64)
    if isClean { take(number(block)) }
    worker.run { deallocate(block, 64) }
    if !isClean { take(number(block)) }
  },
]

// MARK: Storage, closures, raw memory

/// The storage of a collection, which is one reference.
private func storage<T>(of value: T) -> Unmanaged<AnyObject> {
  Unmanaged.passUnretained(unsafeBitCast(value, to: AnyObject.self))
}

private func storage(
  _ name: String, chances: Int = 1, _ make: @escaping () -> AnyObject,
  _ use: @escaping (UnsafeMutableRawPointer) -> Void
) -> Bug {
  var bug = object(name, make) { use($0.toOpaque()) }
  bug.chances = chances
  return bug
}

@inline(never) @_optimize(none) func closure(over number: Int, _ object: Child) -> () -> Int { { number &+ object.n } }
struct ClosureWords {
  var function: UnsafeRawPointer
  var context: UnsafeMutableRawPointer
}
@inline(never) @_optimize(none) func call(_ words: ClosureWords) {
  var words = words
  withUnsafePointer(to: &words) { pointer in
    pointer.withMemoryRebound(to: (() -> Int).self, capacity: 1) { take($0.pointee()) }
  }
}

indirect enum Tree {
  case leaf(Int, Int)
  case node(Tree, Int)
}

@inline(never) @_optimize(none) func makeArray() -> [Int] { (0..<8).map { $0 &+ sink } }
@inline(never) @_optimize(none) func makeReferences() -> ContiguousArray<Child> { [child0, child0, child0] }
@inline(never) @_optimize(none) func makeSet() -> Set<Int> { [sink, sink &+ 1] }
@inline(never) @_optimize(none) func makeDictionary() -> [Int: Int] { [sink: 1, sink &+ 1: 2] }
@inline(never) @_optimize(none) func makeBuffer() -> ManagedBuffer<Int, Int> {
  ManagedBuffer<Int, Int>.create(minimumCapacity: 6) { buffer in
    buffer.withUnsafeMutablePointerToElements { $0.initialize(repeating: 1, count: 6) }
    return 6
  }
}
struct Refused: Error { var code = number0(), reason = items0 }
@inline(never) @_optimize(none) func makeError() -> any Error { Refused() }
@inline(never) @_optimize(none) func makeString() -> String { String(repeating: "x", count: 60) + "\(sink & 7)" }

let storages: [Bug] = [
  storage("escaped-array", { unsafeBitCast(makeArray(), to: AnyObject.self) }) { take(number($0, at: 48)) },
  storage("escaped-references", { unsafeBitCast(makeReferences(), to: AnyObject.self) }) {
    take($0.load(fromByteOffset: 40, as: Unmanaged<Child>.self)._withUnsafeGuaranteedRef { $0.n })
  },
  storage("array-storage", { unsafeBitCast(makeArray(), to: AnyObject.self) }) {
    take(
      unsafeBitCast($0, to: Unmanaged<AnyObject>.self)._withUnsafeGuaranteedRef {
        unsafeBitCast($0, to: [Int].self).count
      })
  },
  storage("set-storage", { unsafeBitCast(makeSet(), to: AnyObject.self) }) { take(number($0, at: 16)) },
  storage("dictionary-storage", { unsafeBitCast(makeDictionary(), to: AnyObject.self) }) { take(number($0, at: 16)) },
  storage("boxed-error", { unsafeBitCast(makeError(), to: AnyObject.self) }) { take(number($0, at: 40)) },
  storage("managed-buffer", { makeBuffer() }) { take(number($0, at: 40)) },
  Bug(name: "escaped-string") { isClean in
    var text: String? = makeString()
    // Large native strings: the second word is the storage, which has its bytes at 32.
    let words = withUnsafeBytes(of: text!) { $0.load(fromByteOffset: 8, as: UInt.self) }
    let bytes = UnsafeMutableRawPointer(bitPattern: words & 0x00FF_FFFF_FFFF_FFFF)! + 32
    if isClean { take(Int(bytes.load(fromByteOffset: 20, as: UInt8.self))) }
    drop(&text)
    if !isClean { take(Int(bytes.load(fromByteOffset: 20, as: UInt8.self))) }
  },
  // Its context, and that of the function that calls it with another convention.
  Bug(name: "freed-closure", chances: 2) { isClean in
    var kept: (() -> Int)? = closure(over: sink & 7, child0)
    let two = withUnsafeBytes(of: &kept) { $0.loadUnaligned(as: ClosureWords.self) }
    let alive = words(of: unsafeBitCast(two.context, to: AnyObject.self))
    if isClean { call(two) }
    drop(&kept)
    if !isClean { revive(two.context, as: alive) { call(two) } }
  },
  Bug(name: "freed-box") { isClean in
    var tree: Tree? = .leaf(sink & 7, 2)
    let box = withUnsafeBytes(of: &tree) { UnsafeMutableRawPointer(bitPattern: $0.load(as: UInt.self) & ~7)! }
    if isClean { take(number(box, at: 24)) }
    drop(&tree)
    if !isClean { take(number(box, at: 24)) }
  },
  raw("raw-read", size: 64) { take(number($0)) },
  raw("raw-written", size: 96) { $0.storeBytes(of: 1, toByteOffset: 40, as: Int.self) },
  raw("raw-c-context", size: 48) { callBack({ take(number($0!)) }, $0) },
  raw("nio-bytes", size: 512) { take(Int($0.load(fromByteOffset: 300, as: UInt8.self))) },
  Bug(name: "overflow") { isClean in
    let block = allocate(64)
    // Behind it is what glibc keeps of the next block.
    take(number(block, at: isClean ? 56 : 64))
    deallocate(block, 64)
  },
]

let bugs = objects + races + storages
