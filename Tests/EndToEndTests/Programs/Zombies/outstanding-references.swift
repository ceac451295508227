// Weak and unowned references to the dead object are outstanding, so the runtime itself keeps its memory.
// EXPECT zombie kind=method|retain type=App.Target allocated=make freed=drop used=send
// EXPECT crash
class Target {
  var number = 1
  func act() -> Int { number }
}

final class References {
  weak var weakly: Target?
  unowned var safely: Target
  unowned(unsafe) var unsafely: Target
  init(_ target: Target) {
    weakly = target
    safely = target
    unsafely = target
  }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Target { Target() }
@inline(never) func drop(_ target: inout Target?) {
  target = nil
  done()
}
@inline(never) @_optimize(none) func send(_ references: References) {
  print(references.weakly == nil)
  print(references.unsafely.act())
}

var target: Target? = make()
let references = References(target!)
drop(&target)
send(references)
