// Cycles through locks, what cannot be copied, enums in existentials, arrays of optional closures and blocks of Dispatch. Numbers name them all,
// so that counts decide.
// EXPECT leak types=App.Locked count=1
// EXPECT leak types=App.LockedCase count=1
// EXPECT leak types=App.Lazily count=1
// EXPECT leak types=App.Once count=1
// EXPECT leak types=App.OnceInCase count=1
// EXPECT leak types=App.OnceOrNever count=1
// EXPECT leak types=App.Outcome count=1
// EXPECT leak types=App.Twice count=1
// EXPECT leak types=App.Packed count=1
// EXPECT leak types=App.Variadic count=1
// EXPECT leak types=App.Working count=1
// EXPECT leak types=App.Notified count=1
import Dispatch
import Synchronization

struct State {
  var waiting: [Int: () -> Void] = [:]
  var owner: Locked?
  var calls = 0
}
enum Progress {
  case idle
  case done(Int)
  case busy(LockedCase, [Int])
}
struct Token<Owner>: ~Copyable {
  var owner: Owner?
  var number = 3
}
private enum Choice: ~Copyable {
  case none
  case two(Int, OnceInCase)
}
struct Parts<each Part> {
  var all: (repeat each Part)
  init(_ part: repeat each Part) { all = (repeat each part) }
}

final class Locked: Sendable { let state = Mutex(State()) }
final class LockedCase: Sendable { let state = Mutex(Progress.idle) }
final class Lazily: Sendable { let first = AtomicLazyReference<Lazily>() }
final class Once { var token = Token<Once>() }
final class OnceInCase { fileprivate var choice = Choice.none }
final class OnceOrNever { var token: Token<OnceOrNever>? }
final class Outcome { var last: Any? }
final class Twice { var value: Any? }
final class Packed { var value: Any? }
final class Variadic { var call: (() -> Void)? }
final class Working: @unchecked Sendable {
  var item: DispatchWorkItem?
  var calls = 0
}
final class Notified: @unchecked Sendable {
  let group = DispatchGroup()
  var calls = 0
}

nonisolated(unsafe) var seen: Set<ObjectIdentifier> = []

@inline(never) @_optimize(none) func locks() {
  let (locked, inCase, lazily) = (Locked(), LockedCase(), Lazily())
  locked.state.withLock {
    $0.owner = locked
    $0.waiting[1] = { locked.state.withLock { $0.calls += 1 } }
  }
  inCase.state.withLock { $0 = .busy(inCase, [3]) }
  _ = lazily.first.storeIfNil(lazily)
  for object in [locked, inCase, lazily] as [AnyObject] { seen.insert(ObjectIdentifier(object)) }
}
@inline(never) @_optimize(none) func uncopyable() {
  let (once, inCase, orNever) = (Once(), OnceInCase(), OnceOrNever())
  once.token.owner = once
  inCase.choice = .two(4, inCase)
  orNever.token = Token(owner: orNever)
  for object in [once, inCase, orNever] as [AnyObject] { seen.insert(ObjectIdentifier(object)) }
}
@inline(never) @_optimize(none) func printer<each Value>(_ value: repeat each Value) -> () -> Void {
  { for one in repeat each value { print(one) } }
}
@inline(never) @_optimize(none) func values() {
  let (outcome, twice, packed, variadic) = (Outcome(), Twice(), Packed(), Variadic())
  variadic.call = printer(variadic, 5, "text")
  outcome.last = Result<Outcome, any Error>.success(outcome)
  twice.value = Optional<Twice?>.some(twice) as Any
  packed.value = Parts(packed, 5, "text")
  for object in [outcome, twice, packed, variadic] as [AnyObject] { seen.insert(ObjectIdentifier(object)) }
}
@inline(never) @_optimize(none) func blocks() {
  let (working, notified) = (Working(), Notified())
  working.item = DispatchWorkItem { working.calls += 1 }
  notified.group.enter()
  notified.group.notify(queue: .global()) { notified.calls += 1 }
  for object in [working, notified] as [AnyObject] { seen.insert(ObjectIdentifier(object)) }
}
@inline(never) func scrub(_ depth: Int) {
  var bytes = [UInt8](repeating: 1, count: 4096)
  bytes[depth] = 2
  if depth > 0 { scrub(depth - 1) }
}
locks()
uncopyable()
values()
blocks()
scrub(20)
print(seen.count)
