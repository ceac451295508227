// Messages on one thread race with the last release on another.
// EXPECT zombie in=debug kind=method|retain|field type=App.Target allocated=make freed=drop used=send
// EXPECT zombie in=release kind=method|retain|field type=App.Target allocated=make freed=drop used=send
// EXPECT crash
import Foundation

class Target: @unchecked Sendable {
  var number = 1
  func act() -> Int { number }
}

class Special: Target, @unchecked Sendable {
  override func act() -> Int { number + 1 }
}

struct Shared: @unchecked Sendable {
  var target: Unmanaged<Target>
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Shared { Shared(target: .passRetained(Target())) }
@inline(never) func drop(_ shared: Shared) {
  shared.target.release()
  done()
}
@inline(never) @_optimize(none) func send(_ shared: Shared) -> Int {
  shared.target._withUnsafeGuaranteedRef { $0.act() }
}

let shared = make()
Thread.detachNewThread {
  usleep(1000)
  drop(shared)
}
let end = Date().addingTimeInterval(20)
var sum = 0
while Date() < end { sum &+= send(shared) }
print(sum)
