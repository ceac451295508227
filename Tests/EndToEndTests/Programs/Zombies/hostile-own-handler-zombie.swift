// A program with its own SIGSEGV handler meets a zombie: the report is there whoever handles the signal.
// EXPECT zombie kind=field|method type=App.Owner allocated=make freed=drop used=show
// EXPECT crash or=7
import Glibc

var action = sigaction()
action.__sigaction_handler.sa_handler = { _ in _exit(7) }
sigaction(SIGSEGV, &action, nil)

final class Item {
  var value = 2
}

final class Owner {
  var item = Item()
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Owner> { Unmanaged.passRetained(Owner()) }
@inline(never) func drop(_ owner: Unmanaged<Owner>) {
  owner.release()
  done()
}
@inline(never) func show(_ owner: Unmanaged<Owner>) -> Int {
  owner._withUnsafeGuaranteedRef { $0.item.value }
}

let owner = make()
drop(owner)
print(show(owner))
