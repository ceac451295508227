import Foundation
import Synchronization
import Testing

// What words of objects are by their types: a letter for each word behind the header, see `evidence(of:)`.

private final class Numbers {
  var integers: (Int, UInt8, Int32, UInt64) = (1, 2, 3, 4)
  var real = 1.5
  var flags: (Bool, Bool?, Int?) = (true, nil, 5)
  var identity = ObjectIdentifier(Item.self)
  var character: Unicode.Scalar = "a"
  var date = Date()
  var identifier = UUID()
  var choice = Comparable3.more
  var elapsed = Duration.seconds(1)
}
private enum Comparable3: Int { case less, equal, more }

private final class Pointers {
  var raw: UnsafeMutableRawPointer?
  var typed: UnsafePointer<Int>?
  var buffer = UnsafeMutableBufferPointer<Int>(start: nil, count: 0)
  var opaque: OpaquePointer?
  var unmanaged: Unmanaged<Item>?
  let atomic = Atomic<UInt>(0)
  var time = timespec()
  var type: Any.Type = Item.self
  var address = sockaddr_un()
}

private final class Optionals {
  var none: (() -> Void)?
  var pair: Pair?
  var two: Two?
  var nested: Two??
  var text: String?
  var any: (any Animal)?
  var number: Int?
  init(_ item: Item?) {
    guard let item else { return }
    two = Two(first: item, second: item)
    nested = .some(two)
    none = closureOverTwo(item, Pair(item: item))
  }
}
private struct Two { var first, second: Item }

private enum Same {
  case one(Item)
  case other(Pair2)
  case none, never
}
private enum Numeric {
  case small(Int8)
  case large(Int, Int)
}
private enum Weakly {
  case one(Unowned)
  case other(Unowned, Int)
}
private enum Mixed {
  case strong(Item)
  case weak(Unowned)
  case number(Int)
}
private enum Uneven {
  case one(Item)
  case two(Item, Item)
}
private struct Unowned { unowned var item: Item }
private struct Pair2 { var item: Item }
private final class Payloads {
  var same = Same.none
  var numeric = Numeric.small(1)
  var weakly: Weakly
  var mixed: Mixed
  var uneven: Uneven
  init(_ item: Item) {
    weakly = .one(Unowned(item: item))
    mixed = .weak(Unowned(item: item))
    uneven = .one(item)
  }
}

private final class ToolchainValues {
  var array = ContiguousArray<Item>()
  var slice: ArraySlice<Item> = []
  var substring: Substring = ""
  var character: Character = "a"
  var set: Set<Int> = []
  var pointer = ManagedBufferPointer<Int, Item>(unsafeBufferObject: makeBuffer())
  var task: Task<Void, Never>?
  var stream: AsyncStream<Int>.Continuation?
  var url: URL?
  var path: KeyPath<Pair, Int> = \Pair.count
}

struct UncopyableToken: ~Copyable {
  var item: Item
  var number = 3
}
private enum UncopyableChoice: ~Copyable {
  case one(Item)
  case two(Int, Item)
  case none
}
private final class Uncopyable {
  var token: UncopyableToken
  var maybe: UncopyableToken?
  var choice: UncopyableChoice
  let lock = Mutex<[Item]>([])
  let lazily = AtomicLazyReference<Item>()
  init(_ item: Item) {
    token = UncopyableToken(item: item)
    choice = .two(1, item)
  }
}
private final class DynamicEnums {
  let outcome: Any
  let twice: Any
  let failed: Any
  init(_ item: Item) {
    outcome = Result<Item, any Error>.success(item)
    twice = Optional<Item?>.some(item) as Any
    failed = Result<Int, any Error>.success(5)
  }
}
@inline(never) @_optimize(none)
private func closureOverPack<each Value>(_ value: repeat each Value) -> () -> Void {
  { for one in repeat each value { _ = opaque(one) } }
}

@Suite struct EvidenceTests {
  private let item = Item()

  @Test func numbers() {
    let words = evidence(of: opaque(Numbers()))
    #expect(words.allSatisfy { $0 == "n" } && words.count > 12)
  }

  @Test func pointersAreRaw() {
    let words = evidence(of: opaque(Pointers()))
    // The count of a buffer and the fields of a timespec are numbers.
    #expect(words.hasPrefix("rrrnrrrnnr"))
    #expect(words.dropFirst(10).allSatisfy { $0 == "r" })
  }

  @Test func fieldsOfClasses() {
    #expect(evidence(of: opaque(Strong())) == "ccc")
    #expect(evidence(of: opaque(Weak(item))) == "--r--rr")
    #expect(evidence(of: opaque(Derived())) == "c-c-")
    #expect(evidence(of: opaque(Specialized(Pair(item: item), item))) == "cn-cnc")
    #expect(evidence(of: opaque(Structs(item))) == "cncnnnncn--r")
    #expect(evidence(of: opaque(Tuples(item))) == "nccnccnn--r")
    #expect(evidence(of: opaque(Model())) == "c-c")
    #expect(evidence(of: opaque(WrapperUser())) == "-c")
    #expect(evidence(of: opaque(Inline(item))) == "cncn")
    #expect(evidence(of: opaque(Locked())) == "crcc")
    #expect(evidence(of: opaque(Counter())).suffix(2) == "c-")
    #expect(evidence(of: opaque(Collections(item))) == "cccccncnc")
  }

  /// The words of a value that is not there hold what was there before.
  @Test func wordsOfOptionals() {
    //                                                closure, pair, two, twice, text, existential, number
    #expect(evidence(of: opaque(Optionals(nil))) == "rncncncnncnnnrrnn")
    #expect(evidence(of: opaque(Optionals(item))) == "rccnccccncnnnrrnn")
  }

  @Test func payloadsOfSeveralCases() {
    let words = evidence(of: opaque(Payloads(item)))
    #expect(words == "cnnn-nrncr")
  }

  @Test func enumsOfManyShapes() {
    #expect(evidence(of: opaque(WeakEnums(item))) == "n--rn--rcccrn")
    let words = evidence(of: opaque(Enums(item)))
    #expect(words.contains("rrrrn") && !words.dropLast(7).contains("-"))
  }

  @Test func existentialsByTheirDynamicType() {
    //                                                     small, large, object, Any, constrained
    let words = evidence(of: opaque(Existentials(item)))
    #expect(words.hasPrefix("cnnrrcnnrrcnnrrncnrcnnrr"))
    // Two protocols of classes, an error, an optional.
    #expect(String(words.dropFirst(24)) == "crcccnnrr")
  }

  @Test func enumsByTheirDynamicType() {
    //                                                     a result, an optional of one, numbers and errors
    #expect(evidence(of: opaque(DynamicEnums(item))) == "crnrcnnrrrnr")
  }

  /// By the names that the compiler gives to their records.
  @Test func whatCannotBeCopied() {
    #expect(evidence(of: opaque(Uncopyable(item))) == "cncnrcrcc")
  }

  @Test func closuresOverPacks() {
    #expect(evidenceOfContext(closureOverPack(item, 3 as Int8, item)) == "rrcnc")
    #expect(evidenceOfContext(closureOverPack(item)) == "rrc")
  }

  @Test func closures() {
    #expect(evidence(of: makeClosures()) == "rcrccrc")
    #expect(evidence(of: opaque(Closures(item))) == "rcrncrc")
    #expect(evidenceOfContext(closureOverTwo(item, Pair(item: item))) == "ccn")
    #expect(evidenceOfContext(closureOverWeakAndStrong(item, item)) == "cc")
    #expect(evidenceOfContext(closureOverUnowned(item, item)) == "-r")
    #expect(evidenceOfContext(closureOverVariables(item)) == "ccc")
    #expect(evidenceOfContext(closureOverClosure(item)) == "rcc")
    #expect(evidenceOfContext(closureOverExistential(item)) == "cnnrrc")
    #expect(evidenceOfContext(closureOverSmallValues(item, 1, true)) == "ncn")
    // Code and context; without code the context is not there.
    #expect(evidenceOfContext(closureOverOptionalCallback({ _ = self.item }, item)) == "rcc")
    #expect(evidenceOfContext(closureOverOptionalCallback(nil, item)) == "rnc")
    // The first words say what the type parameter is, and how it is a sequence.
    let callbacks = closureOverCallbacks(of: [Item].self, { _ = opaque($0) }, nil, item)
    #expect(evidenceOfContext(callbacks) == "rrrcrnc")
    let promise = Promise(future: GenericBase(1, item))
    #expect(evidenceOfContext(closureOverPromise(promise) {}) == "rcrc")
    #expect(evidenceOfContext(closureOverOptionalPromise(promise, item)) == "rcc")
    #expect(evidenceOfContext(closureOverUnretained(Unretained(future: promise.future), item)) == "rrc")
    #expect(evidenceOfContext(closureOverTwice(Twice(promise: promise, value: 1), item)) == "rcnc")
    let texts = Twice(promise: Promise(future: GenericBase("", item)), value: "")
    let words = evidenceOfContext(closureOverTwice(texts, item))
    #expect(words.hasPrefix("rcn") && words.hasSuffix("c") && words.count == 5, "\(words)")
  }

  @Test func elementsOfCollections() {
    #expect(evidenceOfStorage([Pair(item: item), Pair(item: item)]).dropFirst(2).hasPrefix("cncn"))
    #expect(evidenceOfStorage([1, 2, 3]).dropFirst(2).hasPrefix("nnn"))
    #expect(evidenceOfStorage([Int32(1), 2, 3]).dropFirst(2).hasPrefix("nn"))
    #expect(evidenceOfStorage(["text"]).dropFirst(2).hasPrefix("nn"))
    #expect(evidenceOfStorage([Unowned(item: item)]).dropFirst(2).hasPrefix("-"))
    // Behind the header and the bitmap.
    #expect(evidenceOfStorage(Set([1])).hasPrefix("nnn-nr"))
    #expect(evidenceOfStorage(Set([1])).dropFirst(6).hasPrefix("nn"))
    let table = evidenceOfStorage([1: item])
    #expect(table.hasPrefix("nnn-nnr") && table.dropFirst(7).hasPrefix("nn") && table.contains("cc"))
  }

  @Test func valuesOfTheToolchain() {
    let words = evidence(of: opaque(ToolchainValues()))
    #expect(words.hasPrefix("ccnnnnnnnnncccc"))
    #expect(words.last == "c")
  }

  private func evidenceOfContext(_ closure: @escaping () -> Void) -> String {
    let holder = opaque(ClosureHolder(closure))
    return withExtendedLifetime(holder) { evidence(of: holder.context!) }
  }

  @inline(never) @_optimize(none)
  private func evidenceOfStorage<Value>(_ value: Value) -> String {
    withExtendedLifetime(value) {
      evidence(of: withUnsafeBytes(of: value) { UnsafeRawPointer(bitPattern: $0.load(as: UInt.self))! })
    }
  }
}
