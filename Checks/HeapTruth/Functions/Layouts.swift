// What all programs of generated layouts share: objects of which a program knows how each is held, and the comparison with what the
// library under test says of each word.
//
// A program makes a container (an object, a closure, a box) of values with fresh objects in them, and asks the library for the
// evidence of the container's words, and of all that they own. A word that the library calls counted has to be one of the strong
// references that the named object has, and each of these has to be followed. So for every object:
//
//     words called counted <= its strong references - that of the table below
//
// Words of which the library knows nothing are no failure: their share is reported.
import Foundation
import Synchronization

protocol Talker: AnyObject { func touch() -> Int }
protocol Tagged {}
protocol Delegate<Element>: AnyObject { associatedtype Element }
protocol Valued {}

class Base<Extra> {
  var extra: Extra
  init(_ extra: Extra) { self.extra = extra }
}
final class Leaf: Base<Int>, Talker, Tagged, Delegate, Hashable, Valued {
  typealias Element = Int
  func touch() -> Int { extra }
  static func == (one: Leaf, other: Leaf) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
final class Keeper<Content> {
  var content: Content
  init(_ content: Content) { self.content = content }
}
final class KeeperOnce<Content: ~Copyable> {
  let content: Content
  init(_ content: consuming Content) { self.content = content }
}
struct Pair<One, Other> {
  var one: One
  var other: Other
}
extension Pair: Valued {}
struct Failure<Content>: Error, @unchecked Sendable { var content: Content }
struct Parts<each Part> {
  var all: (repeat each Part)
  init(_ part: repeat each Part) { all = (repeat each part) }
}
enum Either<One, Other> {
  case one(One)
  case other(Other)
  case both(One, Other)
  case neither
}

@inline(never) @_optimize(none) func use<T: ~Copyable>(_ value: borrowing T) {}
@inline(never) @_optimize(none) func callC(_ number: Int) -> Int { number }

// Glibc declares it for C with _GNU_SOURCE alone.
@_silgen_name("dladdr") private func imageInformation(_ address: UnsafeRawPointer?, _ result: UnsafeMutableRawPointer)
  -> Int32
@_silgen_name("swift_retainCount") private func retainCount(_ object: UnsafeRawPointer) -> Int

enum Layouts {
  private enum Role { case strong, other }

  nonisolated(unsafe) private static var roles: [UInt: Role] = [:]
  nonisolated(unsafe) private static var kept: [Leaf] = []
  nonisolated(unsafe) private static var containers: [AnyObject] = []
  nonisolated(unsafe) private static var totals = (containers: 0, words: 0, known: 0, references: 0, failures: 0)

  // MARK: Objects

  private static func made(_ role: Role) -> Leaf {
    let leaf = Leaf(1)
    kept.append(leaf)
    roles[address(of: leaf)] = role
    return leaf
  }
  private static func address(of object: AnyObject) -> UInt {
    UInt(bitPattern: Unmanaged.passUnretained(object).toOpaque())
  }

  /// An object that the value to be made owns.
  @inline(never) @_optimize(none) static func strong() -> Leaf { made(.strong) }
  /// One that it refers to without owning it.
  @inline(never) @_optimize(none) static func other() -> Leaf { made(.other) }
  @inline(never) @_optimize(none) static func number() -> Int { Int(bitPattern: address(of: made(.other))) }
  @inline(never) @_optimize(none) static func pointer() -> UnsafeRawPointer? { UnsafeRawPointer(bitPattern: number()) }
  @inline(never) @_optimize(none) static func text() -> String { String(repeating: "text", count: 9) }
  @inline(never) @_optimize(none) static func function() -> () -> Int {
    let leaf = strong()
    return { leaf.touch() }
  }
  @inline(never) @_optimize(none) static func functionOfTwo() -> (Int) -> Int {
    let (leaf, number, talker) = (strong(), number(), strong() as any Talker)
    return { leaf.touch() &+ number &+ talker.touch() &+ $0 }
  }
  @inline(never) @_optimize(none) static func functionOfVariable() -> () -> Void {
    var leaf: Leaf? = strong()
    return { leaf = leaf === kept.first ? nil : leaf }
  }

  // MARK: Comparison

  private typealias Evidence = @convention(c) (UnsafeRawPointer, UnsafeMutablePointer<CChar>, Int) -> Int
  private static let evidence: Evidence = {
    guard let symbol = dlsym(nil, "undead_test_evidence") else {
      note("there is no instrument with test entries in this program")
      exit(2)
    }
    return unsafeBitCast(symbol, to: Evidence.self)
  }()

  @inline(never) @_optimize(none) static func compare(object: AnyObject, _ name: String) {
    containers.append(object)
    compare(UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque()), name)
  }

  @inline(never) @_optimize(none) static func compare(closure: @escaping () -> Void, _ name: String) {
    struct Closure { var closure: () -> Void }
    let context = withUnsafeBytes(of: Closure(closure: closure)) {
      $0.load(fromByteOffset: MemoryLayout<UInt>.size, as: UnsafeRawPointer?.self)
    }
    if let context { compare(context, name) }
    withExtendedLifetime(closure) {}
  }

  private struct Met {
    var words = 0
    /// The first place that is called counted.
    var place = ""
    var isSeen = false, isRaw = false
    var isCalledDead = ""
  }

  private static func compare(_ container: UnsafeRawPointer, _ name: String) {
    var met: [UInt: Met] = [:]
    var visited: Set<UnsafeRawPointer> = []
    visit(container, name, &met, &visited)
    totals.containers += 1
    for (address, found) in met {
      let role = roles[address]
      let owners = retainCount(UnsafeRawPointer(bitPattern: address)!) - (role == nil ? 0 : 1)
      if found.words > owners {
        fail("\(found.place): \(found.words) words are called counted, \(owners) references are strong")
      }
      guard role == .strong else { continue }
      totals.references += 1
      if found.words > 0 {
        totals.known += 1
      } else if !found.isRaw {
        fail("\(found.isCalledDead): the only reference to an object is called none")
      }
    }
    totals.references += roles.filter { $0.value == .strong && met[$0.key] == nil }.count
    // Addresses stay in use, so that none is another object's.
    roles = [:]
  }

  private static func visit(
    _ object: UnsafeRawPointer, _ path: String, _ met: inout [UInt: Met], _ visited: inout Set<UnsafeRawPointer>
  ) {
    guard roles[UInt(bitPattern: object)] == nil, visited.insert(object).inserted, visited.count < 4096 else { return }
    var grades = [CChar](repeating: 0, count: 4096)
    let count = evidence(object, &grades, grades.count)
    for index in 0..<count {
      let offset = 16 + index * 8
      let word = object.load(fromByteOffset: offset, as: UInt.self)
      let address = word & 0x00FF_FFFF_FFFF_FFF8
      let place = "\(path) +\(offset)"
      totals.words += 1
      let isCounted = grades[index] == CChar(UInt8(ascii: "c")) && address > 4096
      if isCounted, isImmortal(address) { continue }
      if isCounted || roles[address] != nil {
        met[address, default: Met()].isSeen = true
        if isCounted {
          met[address]!.words += 1
          if met[address]!.place.isEmpty { met[address]!.place = place }
        }
        if grades[index] == CChar(UInt8(ascii: "r")) {
          met[address]!.isRaw = true
        } else {
          met[address]!.isCalledDead = place
        }
      }
      guard isCounted, let target = UnsafeRawPointer(bitPattern: address) else { continue }
      visit(target, place, &met, &visited)
    }
  }

  /// Empty collections and constant objects lie in images, and have no count.
  private static func isImmortal(_ address: UInt) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) {
      imageInformation(UnsafeRawPointer(bitPattern: address), $0.baseAddress!) != 0
    }
  }

  private static func fail(_ text: String) {
    totals.failures += 1
    note("WRONG: \(text)")
  }

  static func end() -> Never {
    note(
      "\(totals.failures) wrong, \(totals.containers) containers, \(totals.words) words, \(totals.known) of "
        + "\(totals.references) references known")
    exit(totals.failures > 0 ? 1 : 0)
  }

  private static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}
