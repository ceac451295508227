// A stored reference of a dead object of a final class is followed, or the storage of an array in it. A program with its own SIGSEGV
// handler is reported, too, whatever handles the signal.
// CASE field-read-reference
// EXPECT zombie kind=field type=App.Owner member=item allocated=make freed=drop used=show
// EXPECT crash
// CASE field-of-array
// FLAGS -D ARRAY
// EXPECT zombie kind=field type=App.Owner member=items allocated=make freed=drop used=show
// EXPECT crash
// CASE hostile-own-handler-zombie
// FLAGS -D HANDLER
// EXPECT zombie kind=field|method type=App.Owner allocated=make freed=drop used=show
// EXPECT crash or=7
#if HANDLER
  import Glibc

  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in _exit(7) }
  sigaction(SIGSEGV, &action, nil)
#endif

final class Item {
  var value = 2
}

final class Owner {
  #if ARRAY
    var items = [1, 2, 3]
  #else
    var number = 0
    var item = Item()
  #endif
}

@inline(never) @_optimize(none) func done() {}
@inline(never) func make() -> Unmanaged<Owner> { Unmanaged.passRetained(Owner()) }
@inline(never) func drop(_ owner: Unmanaged<Owner>) {
  owner.release()
  done()
}
@inline(never) func show(_ owner: Unmanaged<Owner>) -> Int {
  #if ARRAY
    owner._withUnsafeGuaranteedRef { $0.items.count }
  #else
    owner._withUnsafeGuaranteedRef { $0.item.value }
  #endif
}

let owner = make()
drop(owner)
print(show(owner))
