import Dispatch

// Programs in one, of which it is known what they leak: PART is one of the names below, or `all`. With `leak` each shape is part
// of a cycle of its own, which nothing refers to; without, a global refers to all of them. `scripts/check/drift` runs them with a library in
// which one number of the runtime's or of the C library's layouts is wrong.
protocol Shape: AnyObject {}
protocol Value {}
final class Link<T> { var value: T? }
struct Wide: Value {
  var a = 1, b = 2, c = 3, d = 4
  var object: AnyObject?
}
struct Narrow: Value { var object: AnyObject? }
enum Choice {
  case one(AnyObject)
  case two(Int, AnyObject)
  case none
}
indirect enum Tree {
  case leaf(AnyObject)
  case node(Tree, Tree)
}
struct Failure: Error, @unchecked Sendable { var object: AnyObject }
class Base {
  var first: AnyObject?
  var text = "a text that is longer than fifteen bytes"
}
final class Derived: Base, Shape {
  var array: [AnyObject] = []
  var dictionary: [String: AnyObject] = [:]
  var numbers: [Int: AnyObject] = [:]
  var closure: (() -> Void)?
  var any: Any?
  var value: (any Value)?
  var shape: (any Shape)?
  var error: (any Error)?
  var choice = Choice.none
  var tree: Tree?
  var tuple: (name: String, object: AnyObject?)
  var fixed: InlineArray<2, AnyObject?> = [nil, nil]
  weak var weak: AnyObject?
  unowned var unowned: AnyObject?
  var function: (AnyObject) -> AnyObject = { $0 }
  init(_ name: String) { tuple = (name, nil) }
}
nonisolated(unsafe) var kept: [AnyObject] = []
nonisolated(unsafe) var leaks = false
@inline(never) @_optimize(none) func keep(_ object: AnyObject) { if !leaks { kept.append(object) } }
@inline(never) func make(_ fill: (Derived) -> Void) {
  let object = Derived("x")
  fill(object)
  keep(object)
}
@inline(never) func collections() {
  make { $0.array = [$0, $0] }
  make { $0.dictionary = ["a key that is longer than fifteen": $0] }
  make { $0.numbers = [1: $0, 2: $0] }
  make { object in object.fixed[1] = object }
}

@inline(never) func closures() {
  make { object in object.closure = { print(object) } }
  make { object in
    var count = 0
    object.closure = {
      count += 1
      print(object.text, count)
    }
  }
  make { object in
    var box: Derived? = object
    object.closure = {
      print(box as Any)
      box = nil
    }
  }
  make { object in object.function = { _ in object } }
  make { object in object.closure = { [weak other = object.first] in print(object, other as Any) } }
  make { object in capture(object, Narrow()) }
}

// A closure that has to know a type and how it conforms.
@inline(never) @_optimize(none) func capture<T: Value>(_ object: Derived, _ value: T) {
  object.closure = { print(object, value as any Value) }
}

@inline(never) func existentials() {
  make { $0.any = $0 }
  make { $0.any = Wide(object: $0) }
  make { $0.value = Wide(object: $0) }
  make { $0.value = Narrow(object: $0) }
  make { $0.shape = $0 }
  make { $0.error = Failure(object: $0) }
}

@inline(never) func values() {
  make { $0.first = $0 }
  make { $0.choice = .one($0) }
  make { $0.choice = .two(1, $0) }
  make { $0.tree = .node(.leaf($0), .leaf($0)) }
  make { $0.tuple.object = $0 }
}

@inline(never) func references() {
  make {
    let other = Derived("y")
    $0.first = other
    other.first = $0
    other.weak = $0
    other.unowned = $0
    $0.weak = other
  }
  make { object in
    let link = Link<(Int, AnyObject)>()
    link.value = (1, object)
    object.first = link
  }
  make { object in
    let link = Link<[AnyObject]>()
    link.value = [object]
    object.first = link
  }
  // Nothing but what is weak or unowned refers to it: deallocated, unless the global keeps it.
  make { object in
    object.weak = object
    object.unowned = object
  }
}

final class Waiter {
  var object: AnyObject?
  func wait() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }
}

// Each task waits for a continuation that nobody knows.
@inline(never) func tasks() {
  guard leaks else { return }
  for _ in 0..<3 {
    let waiter = Waiter()
    Task { await waiter.wait() }
  }
}

// A source that waits, and a handler that refers to its owner: a suspect.
@inline(never) func sources() {
  let source = DispatchSource.makeTimerSource()
  let owner = Derived("owner")
  owner.first = source as AnyObject
  source.schedule(deadline: .now() + 1000)
  source.setEventHandler { print(owner) }
  source.resume()
}

@inline(never) func clear() {
  withUnsafeTemporaryAllocation(of: Int.self, capacity: 4096) { words in
    for i in 0..<4096 { words[i] = 0 }
    look(words.baseAddress!)
  }
}
@inline(never) @_optimize(none) func look(_ words: UnsafeMutablePointer<Int>) {}

let parts: [(String, @Sendable () -> Void)] = [
  ("collections", collections), ("closures", closures), ("existentials", existentials), ("values", values),
  ("references", references), ("tasks", tasks), ("sources", sources),
]

@main struct Drift {
  static func main() async {
    leaks = CommandLine.arguments.contains("leak")
    for (name, run) in parts where CommandLine.arguments.contains(name) || CommandLine.arguments.contains("all") {
      run()
    }
    // Until tasks wait, and the queue knows of the source.
    try? await Task.sleep(nanoseconds: 2_000_000)
    clear()
  }
}
