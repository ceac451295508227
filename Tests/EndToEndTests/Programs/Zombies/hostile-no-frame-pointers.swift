// Code without frame pointers: the backtraces are whole nevertheless.
// FLAGS -Xcc -fomit-frame-pointer -Xllvm -frame-pointer=none
// EXPECT zombie kind=method type=App.Target allocated=make freed=drop used=send
// EXPECT crash
class Target {
  var items = [1, 2]
  func act() -> Int { items.count }
}

class Special: Target {
  override func act() -> Int { items.count + 1 }
}

@inline(never) @_optimize(none) func done() {}
@inline(never) @_optimize(none) func make() -> Unmanaged<Target> { Unmanaged.passRetained(Target()) }
@inline(never) func drop(_ target: Unmanaged<Target>) {
  target.release()
  done()
}
@inline(never) @_optimize(none) func send(_ target: Unmanaged<Target>) {
  _ = target._withUnsafeGuaranteedRef { $0.act() }
  done()
}

let target = make()
drop(target)
send(target)
