// Fields of a dead object of a final class.
import Glibc

@inline(never) @_optimize(none) func done() {}
@inline(never) func drop<Object: AnyObject>(_ object: Unmanaged<Object>) {
  object.release()
  done()
}

// An Int is read or written: nothing but guard pages sees the access itself.
// CASE field-read-int
// ARGS read
// EXPECT crash in=release
// EXPECT any in=debug
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=read allocated=make freed=drop used=show
// CASE field-write-int
// ARGS write
// EXPECT crash in=release
// EXPECT any in=debug
// EXPECT zombie in=release kind=field type=App.Counter member=value operation=write allocated=make freed=drop used=set
final class Counter {
  var other = 1
  var value = 2
}
@inline(never) func makeCounter() -> Unmanaged<Counter> { Unmanaged.passRetained(Counter()) }
@inline(never) func show(_ counter: Unmanaged<Counter>) -> Int { counter._withUnsafeGuaranteedRef { $0.value } }
@inline(never) func set(_ counter: Unmanaged<Counter>, _ value: Int) {
  counter._withUnsafeGuaranteedRef { $0.value = value }
}

// A stored reference is followed. A program with its own SIGSEGV handler is reported, too, whatever handles the signal.
// CASE field-read-reference
// ARGS reference
// EXPECT zombie kind=field type=App.Owner member=item allocated=make freed=drop used=show
// EXPECT crash
// CASE hostile-own-handler-zombie
// ARGS handler
// EXPECT zombie kind=field|method type=App.Owner allocated=make freed=drop used=show
// EXPECT crash or=7
final class Item {
  var value = 2
}
final class Owner {
  var number = 0
  var item = Item()
}
@inline(never) func makeOwner() -> Unmanaged<Owner> { Unmanaged.passRetained(Owner()) }
@inline(never) func show(_ owner: Unmanaged<Owner>) -> Int { owner._withUnsafeGuaranteedRef { $0.item.value } }

// The storage of an array in it is read.
// CASE field-of-array
// ARGS array
// EXPECT zombie kind=field type=App.List member=items allocated=make freed=drop used=show
// EXPECT crash
final class List {
  var items = [1, 2, 3]
}
@inline(never) func makeList() -> Unmanaged<List> { Unmanaged.passRetained(List()) }
@inline(never) func show(_ list: Unmanaged<List>) -> Int { list._withUnsafeGuaranteedRef { $0.items.count } }

let (counter, owner, list) = (makeCounter(), makeOwner(), makeList())
drop(counter)
drop(owner)
drop(list)
switch CommandLine.arguments[1] {
case "read": print(show(counter))
case "write": set(counter, CommandLine.arguments.count)
case "reference": print(show(owner))
case "array": print(show(list))
default:
  var action = sigaction()
  action.__sigaction_handler.sa_handler = { _ in _exit(7) }
  sigaction(SIGSEGV, &action, nil)
  print(show(owner))
}
print("not reached under guard")
