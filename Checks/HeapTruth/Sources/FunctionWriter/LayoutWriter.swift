/// Writes types of random shape, makers of their values, and containers of these: classes, closures, boxes, collections.
///
/// Each type is `T<number>`, and `m<number>()` makes a value in which every reference names an object of its own.
struct LayoutWriter {
  private var random: Random
  private var lines: [String] = []
  private var count = 0
  private var calls: [String] = []

  init(seed: UInt64) { random = Random(seed: seed) }

  /// - Parameter containers: how many are compared.
  mutating func program(containers: Int) -> String {
    add("import Foundation")
    add("import Synchronization")
    for number in 0..<containers {
      switch random.below(10) {
      case 0...3: objectContainer(number)
      case 4...7: closureContainer(number)
      case 8: genericClosure(number)
      default: keptOnce(number)
      }
    }
    lines += calls
    add("Layouts.end()")
    return lines.joined(separator: "\n") + "\n"
  }

  private mutating func add(_ line: String) { lines.append(line) }

  // MARK: Types

  private static let plain: [(type: String, made: String)] = [
    ("Leaf", "Layouts.strong()"), ("AnyObject", "Layouts.strong()"), ("any Talker", "Layouts.strong()"),
    ("any Talker & Tagged", "Layouts.strong()"), ("any Base<Int> & Tagged", "Layouts.strong()"),
    ("any Delegate<Int>", "Layouts.strong()"), ("any Valued", "Layouts.strong()"), ("Any", "Layouts.strong()"),
    ("Int", "Layouts.number()"), ("UInt8", "7"), ("Int16", "3"), ("Double", "1.5"), ("Float", "2.5"), ("Bool", "true"),
    ("ObjectIdentifier", "ObjectIdentifier(Layouts.other())"), ("UnsafeRawPointer?", "Layouts.pointer()"),
    ("Unmanaged<Leaf>", "Unmanaged.passUnretained(Layouts.other())"), ("String", "\"short\""),
    ("String", "Layouts.text()"), ("Character", "\"c\""), ("Substring", "Layouts.text().dropFirst(3)"),
    ("() -> Int", "Layouts.function()"), ("(Int) -> Int", "Layouts.functionOfTwo()"),
    ("() -> Void", "Layouts.functionOfVariable()"), ("@convention(c) (Int) -> Int", "{ callC($0) }"),
    ("Leaf.Type", "Leaf.self"), ("any Talker.Type", "Leaf.self"), ("Any.Type", "Int.self"), ("Date", "Date()"),
    ("Data", "Data(count: 40)"), ("UUID", "UUID()"), ("(Leaf, Int8)?", "(Layouts.strong(), 5)"), ("Void", "()"),
    ("Set<Leaf>", "[Layouts.strong(), Layouts.strong()]"), ("AnyHashable", "AnyHashable(Layouts.strong())"),
  ]

  /// Declares a type and a maker, and gives back their number.
  private mutating func type(_ depth: Int) -> Int {
    let (type, made) = depth == 0 || random.percent(30) ? random.choose(Self.plain) : composed(depth)
    count += 1
    add("typealias T\(count) = \(type)")
    add("@inline(never) func m\(count)() -> T\(count) { \(made) }")
    return count
  }

  private mutating func composed(_ depth: Int) -> (type: String, made: String) {
    let one = type(depth - 1)
    switch random.below(18) {
    case 0, 1: return ("T\(one)?", random.percent(20) ? "nil" : "m\(one)()")
    case 2:
      let (two, three) = (type(depth - 1), type(depth - 1))
      return ("(T\(one), T\(two), T\(three))", "(m\(one)(), m\(two)(), m\(three)())")
    case 3: return ("[T\(one)]", "[m\(one)(), m\(one)(), m\(one)()]")
    case 4: return ("[Int: T\(one)]", "[1: m\(one)(), 2: m\(one)()]")
    case 5, 6: return structure(one, depth)
    case 7, 8: return enumeration(one, depth)
    case 9: return ("Any", "m\(one)()")
    case 10: return ("any Error", "Failure(content: m\(one)())")
    case 11:
      return (
        "Result<T\(one), any Error>",
        random.percent(70) ? ".success(m\(one)())" : ".failure(Failure(content: m\(one)()))"
      )
    case 12:
      let two = type(depth - 1)
      return ("Pair<T\(one), T\(two)>", "Pair(one: m\(one)(), other: m\(two)())")
    case 13: return ("Keeper<T\(one)>", "Keeper(m\(one)())")
    case 14: return ("[2 of T\(one)]", "[m\(one)(), m\(one)()]")
    case 15:
      let two = type(depth - 1)
      return ("Parts<T\(one), T\(two)>", "Parts(m\(one)(), m\(two)())")
    case 16:
      let two = type(depth - 1)
      let cases = [".one(m\(one)())", ".other(m\(two)())", ".both(m\(one)(), m\(two)())", ".neither"]
      return ("Either<T\(one), T\(two)>", random.choose(cases))
    default: return ("any Valued", "Pair(one: m\(one)(), other: 3)")
    }
  }

  private mutating func structure(_ one: Int, _ depth: Int) -> (type: String, made: String) {
    let fields = [one] + (0..<random.below(4)).map { _ in type(depth - 1) }
    count += 1
    let members = fields.enumerated().map { "var f\($0.offset): T\($0.element)" } + weakMembers()
    add("struct S\(count) { \(members.joined(separator: "; ")) }")
    let values = fields.enumerated().map { "f\($0.offset): m\($0.element)()" } + weakValues(members)
    return ("S\(count)", "S\(count)(\(values.joined(separator: ", ")))")
  }

  private mutating func enumeration(_ one: Int, _ depth: Int) -> (type: String, made: String) {
    let payloads = [one] + (0..<random.below(3)).map { _ in type(depth - 1) }
    count += 1
    let indirect = random.percent(20) ? "indirect " : ""
    let cases = payloads.enumerated().map { number, payload in
      number > 0 && random.percent(30) ? "case c\(number)(T\(payload), T\(one))" : "case c\(number)(T\(payload))"
    }
    let empty = (0..<random.below(3)).map { "case e\($0)" }
    add("\(indirect)enum E\(count) { \((cases + empty).joined(separator: "; ")) }")
    if !empty.isEmpty, random.percent(15) { return ("E\(count)", ".e0") }
    let chosen = random.below(cases.count)
    let isPair = cases[chosen].contains(", ")
    return ("E\(count)", ".c\(chosen)(m\(payloads[chosen])()\(isPair ? ", m\(one)()" : ""))")
  }

  /// Members that do not own what they refer to.
  private mutating func weakMembers() -> [String] {
    var members: [String] = []
    if random.percent(20) { members.append("weak var w0: Leaf?") }
    if random.percent(20) { members.append("unowned var w1: Leaf") }
    if random.percent(15) { members.append("unowned(unsafe) var w2: Leaf") }
    if random.percent(15) { members.append("weak var w3: (any Talker & Tagged)?") }
    if random.percent(10) { members.append("unowned var w4: any Delegate<Int>") }
    return members
  }

  private func weakValues(_ members: [String]) -> [String] {
    (0..<5).filter { number in members.contains { $0.contains(" w\(number):") } }.map { "w\($0): Layouts.other()" }
  }

  // MARK: Containers

  private mutating func objectContainer(_ number: Int) {
    let fields = (0..<random.below(5) + 1).map { _ in type(random.below(4)) }
    let weak = weakMembers()
    let isGeneric = random.percent(25)
    let kind = random.choose(["final class", "final class", "class", "actor"])
    let heir = kind == "final class" ? random.choose(["", "", ": Base<Int8>", ": NSObject"]) : ""
    add("\(kind) C\(number)\(isGeneric ? "<X>" : "")\(heir) {")
    for (place, field) in fields.enumerated() { add("  \(kind == "actor" ? "let" : "var") f\(place): T\(field)") }
    for member in weak { add("  \(member)") }
    if isGeneric { add("  let x: X") }
    add("  \(heir == ": NSObject" && !isGeneric ? "override " : "")init(\(isGeneric ? "_ x: X" : "")) {")
    for (place, field) in fields.enumerated() { add("    f\(place) = m\(field)()") }
    for value in weakValues(weak) { add("    self.\(value.replacing(": ", with: " = "))") }
    if isGeneric { add("    self.x = x") }
    if heir.contains("Base") { add("    super.init(3)") } else if !heir.isEmpty { add("    super.init()") }
    add("  }")
    add("}")
    calls.append("Layouts.compare(object: C\(number)(\(isGeneric ? "m\(fields[0])()" : "")), \"C\(number)\")")
  }

  private mutating func closureContainer(_ number: Int) {
    let values = (0..<random.below(5) + 1).map { _ in type(random.below(4)) }
    add("@inline(never) func k\(number)() {")
    captures(number, values, generic: false)
    add("}")
    calls.append("k\(number)()")
  }

  private mutating func genericClosure(_ number: Int) {
    let values = (0..<random.below(3) + 1).map { _ in type(random.below(3)) }
    let argument = type(random.below(3))
    add("@inline(never) @_semantics(\"optimize.sil.specialize.generic.never\") func k\(number)<X>(_ x: X) {")
    captures(number, values, generic: true)
    add("}")
    calls.append("k\(number)(m\(argument)())")
  }

  private mutating func captures(_ number: Int, _ values: [Int], generic: Bool) {
    var list: [String] = []
    var body: [String] = []
    for (place, value) in values.enumerated() {
      if random.percent(25) {
        add("  var v\(place) = m\(value)()")
        body.append("v\(place) = m\(value)()")
      } else {
        add("  let v\(place) = m\(value)()")
        if random.percent(50) { list.append("v\(place)") }
        body.append("use(v\(place))")
      }
    }
    for way in ["weak", "unowned", "unowned(unsafe)"] where random.percent(25) {
      let name = "w\(list.count)"
      let type = random.choose(["Leaf", "any Talker", "any Base<Int> & Tagged", "any Delegate<Int>"])
      add("  let \(name): \(type) = Layouts.other()")
      list.append("\(way) \(name)")
      body.append("use(\(name))")
    }
    if generic {
      add("  let pair = (3 as Int8, x)")
      for (name, text) in [("x", "use(x)"), ("pair", "use(pair)")] where random.percent(60) {
        if random.percent(50) { list.append(name) }
        body.append(text)
      }
      if random.percent(30) {
        add("  let either: Either<X, Leaf> = .both(x, Layouts.strong())")
        body.append("use(either)")
      }
    }
    let order = body.shuffled(using: &random).joined(separator: "; ")
    let head = list.isEmpty ? "" : "[\(list.shuffled(using: &random).joined(separator: ", "))] in "
    add("  Layouts.compare(closure: { \(head)\(order) }, \"k\(number)\")")
  }

  /// What cannot be copied, as a field, as what a generic class keeps, behind a lock, and captured.
  private mutating func keptOnce(_ number: Int) {
    let fields = (0..<random.below(3) + 1).map { _ in type(random.below(3)) }
    let members = fields.enumerated().map { "let f\($0.offset): T\($0.element)" }
    let values = fields.enumerated().map { "f\($0.offset): m\($0.element)()" }
    add("struct U\(number): ~Copyable { \(members.joined(separator: "; ")) }")
    add("enum V\(number): ~Copyable { case one(T\(fields[0])); case two(U\(number)); case none }")
    let once = random.percent(50) ? "U\(number)(\(values.joined(separator: ", ")))" : "V\(number).one(m\(fields[0])())"
    let name = once.hasPrefix("U") ? "U\(number)" : "V\(number)"
    switch random.below(4) {
    case 0:
      add("final class C\(number) { let number = 3; let once: \(name); init() { once = \(once) } }")
      calls.append("Layouts.compare(object: C\(number)(), \"C\(number)\")")
    case 1: calls.append("Layouts.compare(object: KeeperOnce(\(once)), \"KeeperOnce<\(name)>\")")
    case 2:
      add(
        "final class C\(number) { let lock = Mutex<T\(fields[0])?>(nil); init() { lock.withLock { $0 = m\(fields[0])() } } }"
      )
      calls.append("Layouts.compare(object: C\(number)(), \"C\(number)\")")
    default:
      add("@inline(never) func k\(number)() {")
      add("  let once = \(once)")
      add("  Layouts.compare(closure: { use(once) }, \"k\(number)\")")
      add("}")
      calls.append("k\(number)()")
    }
  }
}
