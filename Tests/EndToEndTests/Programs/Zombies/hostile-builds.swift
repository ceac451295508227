// Code without frame pointers: the backtraces are whole nevertheless. With Swift's library in the program nothing of that can be
// replaced, so deaths are seen when memory is freed.
// EXPECT crash
// CASE hostile-no-frame-pointers
// FLAGS -Xcc -fomit-frame-pointer -Xllvm -frame-pointer=none
// EXPECT zombie kind=method type=App.Target allocated=make freed=drop used=send
// CASE hostile-static-stdlib
// FLAGS -static-stdlib
// EXPECT zombie kind=method|field|retain type=App.Target used=send
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
