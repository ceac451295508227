// Cycles that numbers and dead variables name, so that counts decide, through words that are counted: optional closures in an array, a value in
// an error, captures of a generic parameter. A living object knows each weakly.
// EXPECT leak types=App.Listener count=1
// EXPECT leak types=App.Failing count=1
// EXPECT leak types=App.Generic count=1
import Foundation

final class Listener {
  var handlers: [(() -> Void)?] = []
  var calls = 0
}
struct Failure: Error {
  let owner: Failing
  let code: Int
}
final class Failing: @unchecked Sendable {
  var last: (any Error)?
}
final class Generic {
  var call: (() -> Void)?
}
final class Registry {
  weak var listener: Listener?
  weak var failing: Failing?
  weak var generic: Generic?
  var seen: Set<ObjectIdentifier> = []
}
nonisolated(unsafe) let registry = Registry()

@inline(never) @_optimize(none)
func printer<Value>(_ value: Value) -> () -> Void { { print(type(of: value)) } }

do {
  let listener = Listener()
  listener.handlers = [nil, { listener.calls += 1 }, nil]
  let failing = Failing()
  failing.last = Failure(owner: failing, code: 3)
  let generic = Generic()
  generic.call = printer(generic)
  registry.listener = listener
  registry.failing = failing
  registry.generic = generic
  let all: [AnyObject] = [listener, failing, generic]
  registry.seen = Set(all.map { ObjectIdentifier($0) })
  generic.call?()
  print(registry.seen.count, listener.calls)
}
