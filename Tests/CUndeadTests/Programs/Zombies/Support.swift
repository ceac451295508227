// What the other files use: the instrument's functions, and objects that are dead.
import Dispatch
import Foundation

@inline(never) @_optimize(none) func dead<Object: AnyObject>(_ make: () -> Object) -> Unmanaged<Object> {
  let object = make()
  return Unmanaged.passUnretained(object)
}
@inline(never) func ask<Object: AnyObject>(_ object: Unmanaged<Object>, _ question: (Object) -> Int) -> Int {
  object._withUnsafeGuaranteedRef { question($0) }
}
@inline(never) @_optimize(none) func keep<Value>(_ value: Value) {}

func library<Function>(_ name: String, as type: Function.Type) -> Function {
  unsafeBitCast(dlsym(nil, name), to: type)
}
func counters() -> undead_zombie_counters {
  var counters = undead_zombie_counters()
  typealias Read = @convention(c) (UnsafeMutablePointer<undead_zombie_counters>) -> Void
  library("undead_zombies_read_counters", as: Read.self)(&counters)
  return counters
}
func resize(_ bytes: UInt64, _ count: UInt64, _ age: UInt64 = 0) {
  var budget = undead_zombie_budget(bytes: bytes, count: count, age_milliseconds: age)
  typealias Resize = @convention(c) (UnsafePointer<undead_zombie_budget>) -> Void
  library("undead_zombies_resize", as: Resize.self)(&budget)
}
let isDead = library("undead_zombie_is_dead", as: (@convention(c) (UnsafeRawPointer) -> Bool).self)
func isKept<Object: AnyObject>(_ object: Unmanaged<Object>) -> Bool { isDead(object.toOpaque()) }
/// Which objects are kept: known as dead, and with the class that the one that died last has.
func marks(_ objects: [Unmanaged<Animal>]) -> String {
  let classes = objects.map { $0.toOpaque().load(as: UInt.self) }
  return zip(objects, classes).map { isKept($0) && $1 == classes.last ? "k" : "-" }.joined()
}

func wait(_ work: @escaping @Sendable () async -> Void) {
  let done = DispatchSemaphore(value: 0)
  Task {
    await work()
    done.signal()
  }
  done.wait()
}

func threads(_ count: Int, _ work: @escaping @Sendable (Int) -> Void) {
  DispatchQueue.concurrentPerform(iterations: count) { work($0) }
}

/// Lets a tree of objects die, and objects of many sizes.
@inline(never) func churn(_ rounds: Int) {
  for round in 0..<rounds {
    let dog = Dog()
    dog.friends = Array(repeating: round, count: round % 64)
    keep(dead { Animal() })
  }
}
/// On a thread of its own, which then ends.
func onThread(_ work: @escaping @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer?) -> pthread_t {
  var thread = pthread_t()
  pthread_create(&thread, nil, work, nil)
  return thread
}
/// A program of its own, before whose `exec` all signals were blocked.
func blockAllAndBegin(_ way: String) {
  var all = sigset_t()
  sigfillset(&all)
  sigprocmask(SIG_BLOCK, &all, nil)
  var arguments: [UnsafeMutablePointer<CChar>?] = [strdup(CommandLine.arguments[0]), strdup(way), nil]
  execv(CommandLine.arguments[0], &arguments)
}
/// What the counters say belongs together; then all is freed.
func settle(_ budget: UInt64) -> String {
  let end = counters()
  let gone = end.evicted_for_bytes + end.evicted_for_count + end.evicted_for_age
  let isExact = end.kept == end.deaths - gone && end.kept_bytes <= budget && end.missed == 0
  resize(0, 0)
  let after = counters()
  return "\(isExact) \(after.kept) \(after.kept_bytes)"
}

@inline(never) @_optimize(none) func numbers() -> UnsafeMutablePointer<Int> {
  let numbers = UnsafeMutablePointer<Int>.allocate(capacity: 10)
  numbers.initialize(repeating: 7, count: 10)
  return numbers
}
