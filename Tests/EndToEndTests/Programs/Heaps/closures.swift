// Captures of every kind, boxes of variables, buffers and pointers: who owns an object is shown by counted references, or by memory.
// EXPECT silent
// LIBRARY Library/HeapTruth.swift
import Glibc
import HeapTruth
import Synchronization

struct Pair {
  var a: Leaf
  var b: Leaf
  var number = 1
}
protocol Usable: Sendable { func use() }
extension Leaf: Usable {}
final class Buffer: ManagedBuffer<Int, Leaf> {}
final class Holder {
  var actions: [() -> Void] = []
  var maker: (() -> Leaf)?
  var sendable: @Sendable () -> Void = {}
  var buffer: ManagedBuffer<Int, Leaf>?
  let leaves = UnsafeMutablePointer<Leaf>.allocate(capacity: 50)
  let pairs = UnsafeMutablePointer<Pair>.allocate(capacity: 10)
  let unmanaged = Unmanaged.passRetained(noted("unmanaged", Leaf()))
  let mutex = Mutex(noted("mutex", Leaf()))
  var sequence = AnySequence<Leaf>([])
  var iterator: AnyIterator<Leaf>?
}
nonisolated(unsafe) var holder = Holder()
func generic<T: Usable>(_ value: T) -> () -> Void { { value.use() } }
func packed<each T>(_ values: repeat each T) -> () -> Void {
  { repeat ignore(each values) }
}
func ignore<T>(_ value: T) {}
func leaf(_ name: String) -> Leaf { noted(name, Leaf()) }

@inline(never) func fillWithClosures() {
  let one = leaf("one")
  let a = leaf("many a")
  let b = leaf("many b")
  let pair = Pair(a: leaf("many c"), b: leaf("many d"))
  holder.actions.append { one.use() }
  holder.actions.append {
    a.use()
    b.use()
    pair.a.use()
    pair.b.use()
    print(pair.number)
  }
  let inner = leaf("inner")
  let outer = leaf("outer")
  let innerAction = { inner.use() }
  holder.actions.append {
    innerAction()
    outer.use()
  }
  holder.actions.append(leaf("method").use)
  let given = leaf("given")
  let sendable = leaf("sendable")
  holder.maker = { given }
  holder.sendable = { sendable.use() }
  var variable = leaf("variable")
  var structure = Pair(a: leaf("variable a"), b: leaf("variable b"))
  holder.actions.append {
    variable.use()
    variable = Leaf()
  }
  holder.actions.append {
    structure.number += 1
    structure.a.use()
    structure = Pair(a: variable, b: variable)
  }
  let listed = leaf("listed")
  let weak = leaf("held")
  let text = String(repeating: "q", count: 100)
  holder.actions.append { [list = [listed, weak]] in list[0].use() }
  holder.actions.append { [weak weak, unowned listed] in
    weak?.use()
    listed.use()
  }
  holder.actions.append { print(text) }
  let existential: any Usable = leaf("existential")
  holder.actions.append { existential.use() }
  holder.actions.append(generic(leaf("generic")))
  holder.actions.append(packed(1, leaf("packed"), "text"))
}
@inline(never) func fillMemory() {
  holder.buffer = Buffer.create(minimumCapacity: 8) { _ in 3 }
  holder.buffer!.withUnsafeMutablePointerToElements { elements in
    for i in 0..<3 { (elements + i).initialize(to: leaf("buffer")) }
  }
  for i in 0..<50 { (holder.leaves + i).initialize(to: leaf("pointer")) }
  for i in 0..<10 { (holder.pairs + i).initialize(to: Pair(a: leaf("pointer"), b: leaf("pointer"))) }
  let counted = leaf("sequence")
  holder.sequence = AnySequence([counted])
  holder.iterator = AnyIterator { counted }
}
fillWithClosures()
fillMemory()
tellNoted("HeapTruth.Leaf", borrowed: ["unmanaged", "mutex", "generic", "packed", "buffer", "pointer"])
exit(0)
