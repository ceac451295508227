// What all generated programs share: objects whose fate is known, the ways to wait, and the oracle.
//
// Every object is entered into a table when it is made (addresses are scrambled, so that no scan follows them) and taken out
// when it is deallocated. A check lists what leaked. The oracle needs no knowledge of the program: an object that a check listed
// and that is deallocated later refutes the check. Objects that a function leaks on purpose are marked before, and the last
// check has to list them.
import Foundation
import Synchronization

// MARK: Objects

class Object: @unchecked Sendable {
  private var number = 0
  var ring: AnyObject?
  var callback: (() -> Int)?

  init() { number = Oracle.born(Unmanaged.passUnretained(self).toOpaque()) }
  deinit { Oracle.died(number) }

  @inline(never) final func touch() -> Int { number &* 31 }

  fileprivate var entry: Int { number }
}

extension Object {
  /// Called before it leaks: nothing will release the object, nor what it holds.
  @inline(never) func lost(_ way: String) -> Self {
    Oracle.leaks(entry, way)
    return self
  }
}
extension Object: Hashable {
  static func == (one: Object, other: Object) -> Bool { one === other }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

/// Has a value of any layout as its only field.
final class Held<Content>: @unchecked Sendable {
  var content: Content
  init(_ content: Content) { self.content = content }
}

/// The same of what cannot be copied.
final class HeldOnce<Content: ~Copyable>: @unchecked Sendable {
  let content: Content
  init(_ content: consuming Content) { self.content = content }
}
final class Locked: @unchecked Sendable {
  let state = Mutex<Several>(.nothing)
}

class Base<Extra>: Object, @unchecked Sendable {
  var extra: Extra
  init(_ extra: Extra) {
    self.extra = extra
    super.init()
  }
}

protocol Talker: AnyObject, Sendable { func touch() -> Int }
protocol Tagged: Sendable {}
protocol Value: Sendable { func touch() -> Int }
protocol Delegate<Element>: AnyObject, Sendable {
  associatedtype Element
  func touch() -> Int
}

/// Has a type parameter on which existentials depend.
final class Keeper<Element>: Base<Element>, Talker, Tagged, Value, Delegate, @unchecked Sendable {}
typealias Leaf = Keeper<Int>

struct Small: Value, @unchecked Sendable {
  var leaf: Leaf
  func touch() -> Int { leaf.touch() }
}
struct Nine: Value, @unchecked Sendable {
  var first: Leaf
  var numbers = (1, 2, 3, 4, 5, 6)
  var talker: any Talker
  func touch() -> Int { first.touch() &+ talker.touch() &+ numbers.5 }
}
struct Pair<One, Other>: @unchecked Sendable {
  var one: One
  var other: Other
}
protocol Touchable: ~Copyable { borrowing func touch() -> Int }
struct Unique: ~Copyable, Touchable {
  let leaf: Leaf
  let extra: Int?
  borrowing func touch() -> Int { leaf.touch() }
}
struct Only<Content: Touchable & ~Copyable>: ~Copyable, Touchable {
  let content: Content
  let leaf: Leaf
  borrowing func touch() -> Int { leaf.touch() &+ content.touch() }
}
enum Choice: ~Copyable, Touchable {
  case leaf(Leaf, Int)
  case unique(Unique)
  case nothing
  borrowing func touch() -> Int {
    switch self {
    case .leaf(let leaf, let number): leaf.touch() &+ number
    case .unique(let unique): unique.touch()
    case .nothing: 0
    }
  }
}
struct Parts<each Part>: @unchecked Sendable {
  var all: (repeat each Part)
  init(_ part: repeat each Part) { all = (repeat each part) }
}
struct Table {
  subscript(_ leaf: Leaf, _ number: Int) -> Int { number }
}
enum Single: @unchecked Sendable {
  case nothing
  case leaf(Leaf)
}
enum Several: @unchecked Sendable {
  case leaf(Leaf)
  case talker(any Talker, Int8)
  case text(String)
  case nothing
}
indirect enum Chain: @unchecked Sendable {
  case end(Leaf)
  case link(Leaf, Chain)
}
struct Failure: Error, @unchecked Sendable { var leaf: Leaf }

// MARK: Uses

@inline(never) @_optimize(none) func use<T>(_ value: T) -> Int {
  func count(_ value: Any) -> Int {
    switch value {
    case let object as Object: return object.touch()
    case let function as () -> Int: return function()
    case let function as @convention(c) (Int) -> Int: return function(3)
    case let failure as Failure: return failure.leaf.touch()
    case let value as any Value: return value.touch()
    case let number as Int: return number
    case let text as String: return text.utf8.count
    default: return Mirror(reflecting: value).children.reduce(1) { $0 &+ count($1.value) }
    }
  }
  return count(value)
}
@inline(never) @_optimize(none) func use<U: Touchable & ~Copyable>(_ value: borrowing U) -> Int { value.touch() }
@inline(never) @_optimize(none) func use(_ value: borrowing Mutex<Leaf?>) -> Int { value.withLock { $0?.touch() ?? 0 } }
/// Keeps the optimiser from knowing which closure it is: it would do without a context, and Swift 6.3.1 passes weak captures wrongly then.
@inline(never) @_optimize(none) func opaque(_ function: @escaping () -> Int) -> () -> Int { function }
@inline(never) @_optimize(none) func callC(_ number: Int) -> Int { number &+ 1 }
@inline(never) @_optimize(none) func made() -> Leaf { Leaf(7) }
@inline(never) @_optimize(none) func keeper<T>(_ extra: T) -> Keeper<T> { Keeper(extra) }
@inline(never) @_optimize(none) func function(_ leaf: Leaf) -> () -> Int { { leaf.touch() } }
@inline(never) @_optimize(none) func function<T>(_ value: T, _ leaf: Leaf) -> () -> Int {
  { use(value) &+ leaf.touch() }
}
@inline(never) func packed<each Part>(_ part: repeat each Part) -> () -> Int {
  opaque({
    var sum = 0
    for piece in repeat each part { sum &+= use(piece) }
    return sum
  })
}

// MARK: Waiting

/// Where functions wait until the driver has made a check.
enum Pause {
  private static let state = Mutex((waiting: [@Sendable () -> Void](), running: 0))
  private static let changed = DispatchSemaphore(value: 0)

  private static func wait(_ resume: @escaping @Sendable () -> Void) {
    state.withLock {
      $0.waiting.append(resume)
      $0.running -= 1
    }
    changed.signal()
  }

  static func checked() async { await withCheckedContinuation { next in wait { next.resume() } } }
  static func unsafe() async { await withUnsafeContinuation { next in wait { next.resume() } } }
  static func throwing() async throws {
    try await withCheckedThrowingContinuation { (next: CheckedContinuation<Void, any Error>) in wait { next.resume() } }
  }
  static func stream() async {
    let (stream, continuation) = AsyncStream.makeStream(of: Int.self)
    wait {
      continuation.yield(1)
      continuation.finish()
    }
    for await _ in stream {}
  }
  static func task() async { await Task { await checked() }.value }
  static func forever() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
  static func sleeping() async {
    let sleeper = Task { try? await Task.sleep(for: .seconds(86_400)) }
    wait { sleeper.cancel() }
    await sleeper.value
  }

  /// For functions on threads of their own.
  @inline(never) static func blocked() {
    let semaphore = DispatchSemaphore(value: 0)
    wait { semaphore.signal() }
    semaphore.wait()
  }
  @inline(never) static func blockedInCondition() {
    let condition = NSCondition()
    let isOver = Mutex2(false)
    wait {
      condition.lock()
      isOver.value = true
      condition.signal()
      condition.unlock()
    }
    condition.lock()
    while !isOver.value { condition.wait() }
    condition.unlock()
  }
  private final class Mutex2: @unchecked Sendable {
    var value: Bool
    init(_ value: Bool) { self.value = value }
  }

  /// Several child tasks go on in place of their parent, which waits for all of them.
  final class Crowd: Sendable {
    private let left: Mutex<Int>
    init(_ count: Int) {
      left = Mutex(count)
      begin(count - 1)
    }
    func run(_ body: () async -> Int) async -> Int {
      let result = await body()
      let isLast = left.withLock {
        $0 -= 1
        return $0 == 0
      }
      if !isLast { end() }
      return result
    }
  }

  static func begin(_ count: Int) { state.withLock { $0.running += count } }
  static func end() {
    state.withLock { $0.running -= 1 }
    changed.signal()
  }

  /// Waits until every function waits or has ended; what is to be resumed then.
  static func quiet() -> [@Sendable () -> Void] {
    while true {
      let ready: [@Sendable () -> Void]? = state.withLock { state in
        guard state.running == 0 else { return nil }
        defer { state.waiting = [] }
        state.running = state.waiting.count
        return state.waiting
      }
      if let ready { return ready }
      changed.wait()
    }
  }
}

// MARK: Oracle

enum Oracle {
  private enum Fate { case alive, leaked, ended }
  private struct Entry {
    var scrambled: UInt64
    var fate = Fate.alive
    var listedBy = 0
    var maker: String
    var way = ""
  }
  private static let key = UInt64.random(in: 1 << 60 ... .max) | 0x5555_0000_0000_5550
  private static let table = Mutex([Entry]())
  private static let refuted = Mutex(0)
  private static let checks = Mutex((made: 0, objects: 0))
  /// The entry of the program that runs in this task.
  @TaskLocal static var entry = "?"

  static func born(_ object: UnsafeMutableRawPointer) -> Int {
    let scrambled = UInt64(UInt(bitPattern: object)) ^ key
    let maker = Thread.current.threadDictionary["entry"] as? String ?? entry
    return table.withLock {
      $0.append(Entry(scrambled: scrambled, maker: maker))
      return $0.count - 1
    }
  }

  static func leaks(_ number: Int, _ way: String) {
    table.withLock {
      $0[number].fate = .leaked
      $0[number].way = way
    }
  }

  static func died(_ number: Int) {
    let (entry, was) = table.withLock { table in
      let was = table[number]
      table[number].fate = .ended
      return (was, was.listedBy)
    }
    if was != 0 { refute("an object of \(entry.maker), deallocated after check \(was) called it a leak") }
  }

  private static func refute(_ text: String) {
    refuted.withLock { $0 += 1 }
    note("REFUTED: \(text)")
  }

  private typealias Copy =
    @convention(c) (
      UnsafeMutablePointer<UnsafeMutableRawPointer?>, UnsafeMutablePointer<Int>, UnsafeMutablePointer<CChar>, Int
    ) -> Bool
  private typealias Release = @convention(c) (UnsafeMutableRawPointer?, Int) -> Void

  private static func snapshot() -> [ReportedNode]? {
    // The program alone: what fails then is no fault of the instrument's.
    if getenv("FUNCTIONS_ALONE") != nil { return [] }
    guard let copy = unsafeBitCast(dlsym(nil, "undead_snapshot_copy"), to: Copy?.self),
      let release = unsafeBitCast(dlsym(nil, "undead_snapshot_release"), to: Release?.self)
    else {
      note("there is no instrument in this program")
      exit(2)
    }
    var bytes: UnsafeMutableRawPointer?
    var size = 0
    let message = UnsafeMutablePointer<CChar>.allocate(capacity: 512)
    defer { message.deallocate() }
    guard copy(&bytes, &size, message, 512), let bytes else {
      note("check failed: \(String(cString: message))")
      exit(2)
    }
    defer { release(bytes, size) }
    return ReportedNode.all(in: UnsafeRawBufferPointer(start: bytes, count: size)) { $0 ^ key }
  }

  /// Asks what leaked. Called on a thread of its own, so that nothing of the driver's is on its stack.
  @inline(never) static func check(isLast: Bool) {
    guard let nodes = snapshot() else { return }
    let number = checks.withLock {
      $0.made += 1
      return $0.made
    }
    let byAddress = Dictionary(nodes.map { ($0.scrambled, $0.component) }) { first, _ in first }
    var explained: Set<Int> = []
    var known: Set<UInt64> = []
    var (missed, leaked) = (0, 0)
    var missedBy: [String: Int] = [:]
    table.withLock { table in
      for index in table.indices where table[index].fate != .ended {
        let component = byAddress[table[index].scrambled]
        checks.withLock { $0.objects += 1 }
        if component != nil { known.insert(table[index].scrambled) }
        if table[index].fate == .leaked {
          leaked += 1
          if let component {
            explained.insert(component)
          } else if isLast {
            missed += 1
            missedBy[table[index].way, default: 0] += 1
          }
        }
      }
      for index in table.indices where table[index].fate == .alive {
        guard let component = byAddress[table[index].scrambled], !explained.contains(component) else { continue }
        table[index].listedBy = number
      }
    }
    for node in nodes
    where !known.contains(node.scrambled) && !explained.contains(node.component) && node.type != "support" {
      refute("\(node.type), in a check while everything is in use")
    }
    guard isLast else { return }
    let rest = table.withLock { table in table.filter { $0.fate == .alive } }
    for maker in Set(rest.filter { $0.listedBy != 0 }.map(\.maker)).sorted() {
      note("GENERATOR: an object of \(maker) has leaked, and nobody said that it would")
    }
    for (way, count) in missedBy.sorted(by: { $0.key < $1.key }) { note("MISSED: \(way): \(count)") }
    let unexpected = rest.filter { !known.contains($0.scrambled) }.count
    let (made, objects) = checks.withLock { ($0.made, $0.objects) }
    note(
      "\(refuted.withLock { $0 }) refuted, \(objects) objects in \(made) checks, \(leaked - missed) of \(leaked) "
        + "leaked objects listed, \(unexpected) still in use at the end")
    exit(refuted.withLock { $0 } > 0 ? 1 : 0)
  }

  static func note(_ text: String) { FileHandle.standardError.write(Data("\(text)\n".utf8)) }
}

// MARK: Driver

enum Driver {
  nonisolated(unsafe) static var sum = 0

  /// Runs all functions side by side; whenever all of them wait or have ended, a check is made.
  static func run(
    async tasks: [(String, @Sendable () async -> Int)], threads: [(String, @Sendable () -> Int)]
  ) -> Never {
    // So many side by side of each.
    let copies = getenv("FUNCTIONS_COPIES").flatMap { Int(String(cString: $0)) } ?? 1
    let tasks = Array(repeating: tasks, count: copies).flatMap { $0 }
    let threads = Array(repeating: threads, count: copies).flatMap { $0 }
    Pause.begin(tasks.count + threads.count)
    for (name, body) in tasks {
      Task {
        await Oracle.$entry.withValue(name) { _ = await body() }
        Pause.end()
      }
    }
    for (name, body) in threads {
      let thread = Thread {
        Thread.current.threadDictionary["entry"] = name
        _ = body()
        Pause.end()
      }
      thread.stackSize = 1 << 19
      thread.start()
    }
    while true {
      let resumes = Pause.quiet()
      apart { Oracle.check(isLast: false) }
      guard !resumes.isEmpty else { break }
      for resume in resumes { resume() }
    }
    // Tasks and threads that have ended are still on their way.
    usleep(100_000)
    apart { Oracle.check(isLast: true) }
    exit(70)
  }

  private static func apart(_ body: @escaping @Sendable () -> Void) {
    let done = DispatchSemaphore(value: 0)
    let thread = Thread {
      body()
      done.signal()
    }
    thread.start()
    done.wait()
  }
}
