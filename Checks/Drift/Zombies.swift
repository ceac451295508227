// Uses of dead objects of classes whose tables of methods stand behind different things: parameters, requirements, packs and values of
// generic classes, a superclass of another module, metadata that is made when it is needed. `scripts/check/drift` runs it with `--zombies`.
// An object that nobody kept is not used: it would end the program.
import Glibc

class Plain: @unchecked Sendable {
  var number = 1
  init() {}
  func hello() -> Int { 1 }
  var computed: Int {
    _read { yield number }
    _modify { yield &number }
  }
  func later() async -> Int { 2 }
}
class Requiring<Key: Hashable & CustomStringConvertible> {
  var key: Key
  init(_ key: Key) { self.key = key }
  func hello() -> Int { 1 }
}
class Pack<each Value> {
  var values: (repeat each Value)
  init(_ values: repeat each Value) { self.values = (repeat each values) }
  func hello() -> Int { 1 }
}
class Sized<let count: Int> {
  init() {}
  func hello() -> Int { count }
}
class Late {
  var mirror: Mirror?
  init() {}
  func hello() -> Int { 1 }
}
class Buffer: ManagedBuffer<Int, Int> {
  func hello() -> Int { 1 }
}

// The dead have a class of their own, a copy: its descriptor is that of the class. The kernel reads it, wherever the word leads.
func isKept<T: AnyObject>(_ object: Unmanaged<T>) -> Bool {
  let word = object.toOpaque().load(as: UInt.self)
  let original = unsafeBitCast(T.self, to: UInt.self)
  guard word != original, let address = UnsafeRawPointer(bitPattern: word) else { return false }
  var ends: [Int32] = [0, 0]
  var words: [UInt] = Array(repeating: 0, count: 6)
  pipe(&ends)
  let written = write(ends[1], address, 48)
  if written == 48 { read(ends[0], &words, 48) }
  close(ends[0])
  close(ends[1])
  return words[5] == UnsafeRawPointer(bitPattern: original)!.load(fromByteOffset: 40, as: UInt.self)
}
@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func drop<T: AnyObject>(_ make: () -> T) -> Unmanaged<T> {
  let object = Unmanaged.passRetained(make())
  object.release()
  done()
  return object
}
@inline(never) @_optimize(none) func call<T: AnyObject>(_ object: Unmanaged<T>, _ use: (T) -> Int) {
  guard isKept(object) else { return }
  print(object._withUnsafeGuaranteedRef { use($0) })
  done()
}
@inline(never) func callLater(_ object: Unmanaged<Plain>) async {
  guard isKept(object) else { return }
  let dead = unsafeBitCast(object.toOpaque(), to: Plain.self)
  print(await dead.later())
}

@main struct Zombies {
  static func main() async {
    call(drop { Plain() }) { $0.hello() }
    call(drop { Plain() }) { $0.computed }
    call(drop { Requiring("key") }) { $0.hello() }
    call(drop { Pack(1, "two") }) { $0.hello() }
    call(drop { Sized<3>() }) { $0.hello() }
    call(drop { Late() }) { $0.hello() }
    call(drop { Buffer.create(minimumCapacity: 1) { _ in 1 } as! Buffer }) { $0.hello() }
    await callLater(drop { Plain() })
  }
}
