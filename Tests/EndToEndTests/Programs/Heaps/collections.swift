// Arrays, dictionaries and sets of every kind of element, with holes, slices, and text and bytes of every form.
// EXPECT silent
// LIBRARY Library/HeapTruth.swift
import Foundation
import HeapTruth

final class Item: Hashable {
  let number: Int
  init(_ number: Int) { self.number = number }
  static func == (left: Item, right: Item) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
struct Record {
  var number: Int
  var leaf: Leaf
  var name: String
  var other: Other?
}
struct Key: Hashable {
  var name: String
  var item: Item
}
enum Element {
  case item(Item)
  case number(Int)
}
struct Loose {
  weak var weak: Item?
  unowned var unowned: Item
}
final class Holder {
  var leaves: [Leaf] = []
  var records: [Record] = []
  var byName: [String: Leaf] = [:]
  var byNumber: [Int: Record] = [:]
  var items: Set<Item> = []
  var byKey: [Key: Item] = [:]
  var optionals: [Leaf?] = []
  var tuples: [(Int, Leaf)] = []
  var anything: [Any] = []
  var elements: [Element] = []
  var nested: [[Leaf]] = []
  var deep: [String: [Int: Leaf]] = [:]
  var contiguous: ContiguousArray<Leaf> = []
  var slice: ArraySlice<Leaf> = []
  var text = String(repeating: "x", count: 10_000)
  var part: Substring = ""
  var bytes = Data(count: 100_000)
  var few = Data([1, 2, 3])
  var maybeBytes: Data? = Data(count: 300)
  var manyBytes: [(Int, Data)] = []
  var someBytes = Data()
  var functions: [() -> Void] = []
  var hashable: [any Hashable] = []
  var loose: [Loose] = []
  var numbers: [UInt] = []
  var unmanaged: [Unmanaged<Item>] = []
  var kept: [Item] = []
}
nonisolated(unsafe) var holder = Holder()

@inline(never) func fill() {
  for i in 0..<100 {
    holder.leaves.append(Leaf())
    holder.records.append(
      Record(number: i, leaf: Leaf(), name: "too long to be inline \(i)", other: i % 2 == 0 ? Other() : nil))
    holder.byName["a key of more than fifteen bytes \(i)"] = Leaf()
    holder.byNumber[i] = Record(number: i, leaf: Leaf(), name: "", other: nil)
    holder.items.insert(Item(i))
    holder.byKey[Key(name: "key \(i)", item: Item(i))] = Item(i)
    holder.optionals.append(i % 3 == 0 ? nil : Leaf())
    holder.tuples.append((i, Leaf()))
    holder.anything.append(i % 2 == 0 ? Leaf() : i)
    holder.elements.append(i % 2 == 0 ? .item(Item(i)) : .number(i))
    holder.nested.append([Leaf(), Leaf()])
    holder.deep["\(i)", default: [:]][i] = Leaf()
    holder.contiguous.append(Leaf())
    let captured = Item(i)
    holder.functions.append { print(captured.number) }
    holder.hashable.append(Item(i))
    let kept = Item(i)
    holder.kept.append(kept)
    holder.loose.append(Loose(weak: kept, unowned: kept))
    holder.numbers.append(address(kept))
    holder.unmanaged.append(.passRetained(Item(i)))
    holder.manyBytes.append((i, Data(count: 100 + i)))
  }
  for i in 0..<50 {
    holder.byName["a key of more than fifteen bytes \(i)"] = nil
    holder.byNumber[i] = nil
    holder.items.remove(Item(i))
  }
  holder.slice = holder.leaves[10..<20]
  holder.part = holder.text.dropFirst(100).prefix(20)
  holder.someBytes = holder.bytes[100..<200]
}

@inline(never) func tellAll() {
  let own = address(holder)
  func holds(
    _ field: String, _ block: UInt, _ elements: [(field: String, target: AnyObject)], _ strength: String = "counted"
  ) {
    tellReference(own, field, block)
    for element in elements {
      tellReference(block, element.field, address(element.target), strength)
      tellOwned(address(element.target), field)
    }
  }
  tellObject(holder)
  tellReference(own, "leaves", storage(holder.leaves))
  for leaf in holder.leaves { tellReference(storage(holder.leaves), "[]", address(leaf)) }
  holds("records", storage(holder.records), holder.records.map { ("[].leaf", $0.leaf) })
  for case let other? in holder.records.map(\.other) {
    tellReference(storage(holder.records), "[].other", address(other))
  }
  holds("byName", storage(holder.byName), holder.byName.values.map { ("[value]", $0) })
  holds("byNumber", storage(holder.byNumber), holder.byNumber.values.map { ("[value].leaf", $0.leaf) })
  holds("items", storage(holder.items), holder.items.map { ("[element]", $0) })
  holds("byKey", storage(holder.byKey), holder.byKey.flatMap { [("[key].item", $0.item), ("[value]", $1)] })
  holds("optionals", storage(holder.optionals), holder.optionals.compactMap { $0.map { ("[]", $0) } })
  holds("tuples", storage(holder.tuples), holder.tuples.map { ("[].1", $0.1) })
  holds("anything", storage(holder.anything), holder.anything.compactMap { ($0 as? Leaf).map { ("[]", $0) } })
  holds("contiguous", storage(holder.contiguous), holder.contiguous.map { ("[]", $0) })
  for case .item(let item) in holder.elements {
    tellReference(storage(holder.elements), "[]", address(item), "counted|raw")
  }
  for leaf in holder.nested.joined() { tellOwned(address(leaf), "nested") }
  for leaf in holder.deep.values.flatMap(\.values) { tellOwned(address(leaf), "deep") }
  for value in holder.hashable { tellOwned(address(value as AnyObject), "hashable") }
  holds("kept", storage(holder.kept), holder.kept.map { ("[]", $0) })
  for item in holder.kept { tellReference(storage(holder.loose), "[].unowned", address(item), "weak") }
  for item in holder.unmanaged {
    tellReference(storage(holder.unmanaged), "[]", UInt(bitPattern: item.toOpaque()), "raw")
  }
}
/// The object that has the bytes of a Data that is not inline.
func storageOfData(_ data: Data) -> UInt { unsafeBitCast(data, to: (UInt, UInt).self).1 & 0x00FF_FFFF_FFFF_FFFF }

@inline(never) func tellData() {
  let own = address(holder)
  tellReference(own, "bytes", storageOfData(holder.bytes))
  tellReference(own, "someBytes", storageOfData(holder.someBytes))
  tellOwned(storageOfData(holder.bytes), "bytes")
  tellReference(own, "maybeBytes", storageOfData(holder.maybeBytes!))
  for (_, data) in holder.manyBytes {
    tellReference(storage(holder.manyBytes), "[].1", storageOfData(data))
    tellOwned(storageOfData(data), "manyBytes")
  }
}
fill()
tellAll()
tellData()
exit(0)
