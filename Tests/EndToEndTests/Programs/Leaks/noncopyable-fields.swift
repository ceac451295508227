// The way goes through fields that cannot be copied, of which the runtime says nothing.
// EXPECT leak kind=retainCycle types=App.Registry,App.Session fields=state~handler,registry at=registry|session
// EXPECT leak kind=retainCycle types=App.Bag,App.Entry fields=state~entries,bag
// EXPECT leak kind=retainCycle types=App.Lone fields=lock
// EXPECT leak kind=retainCycle types=App.Holder fields=box~value.owner
// EXPECT leak kind=retainCycle types=App.Slot fields=kept.slot
// EXPECT leak kind=retainCycle types=App.LockedSlot fields=lock.slot
// EXPECT leak kind=retainCycle types=App.Nested fields=box.value.slot
// EXPECT leak kind=retainCycle types=App.Locked fields=pair.1
import Synchronization

protocol Handler: AnyObject {}
final class Session: Handler, @unchecked Sendable {
  let registry: Registry
  init(_ registry: Registry) { self.registry = registry }
}
struct State {
  var count: UInt8 = 0
  var name = "x"
  var handler: (any Handler)?
}
final class Registry: @unchecked Sendable { let state = Mutex(State()) }

final class Entry {
  var bag: Bag?
}
struct Entries {
  var number = 1
  var entries: [Entry] = []
}
final class Bag: @unchecked Sendable { let state = Mutex(Entries()) }

final class Lone: @unchecked Sendable { let lock = Mutex<Lone?>(nil) }

struct Guarded: ~Copyable {
  var tag: UInt16 = 1
  var owner: Holder?
}
struct Wrapper<Value: ~Copyable>: ~Copyable {
  var padding: UInt16 = 3
  var value: Value
}
final class Holder { var box = Wrapper(value: Guarded()) }

// Optionals of such values, and a tuple behind a lock.
struct Kept: ~Copyable {
  var tag: UInt16 = 1
  var slot: AnyObject?
}
final class Slot { var kept: Kept? }
final class LockedSlot: @unchecked Sendable { let lock = Mutex<Kept?>(nil) }
final class Nested { var box = Wrapper<Kept?>(value: nil) }
final class Locked: @unchecked Sendable { let pair = Mutex<(Int, Locked?)>((1, nil)) }

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func inMutex() {
  let registry = Registry()  // @registry
  let session = Session(registry)  // @session
  registry.state.withLock { (state: inout State) in state.handler = session }
  use(registry)
}
@inline(never) func inCollection() {
  let bag = Bag()
  let entry = Entry()
  entry.bag = bag
  bag.state.withLock { $0.entries.append(entry) }
  use(bag)
}
@inline(never) func alone() {
  let lone = Lone()
  lone.lock.withLock { $0 = lone }
  use(lone)
}
@inline(never) func ownType() {
  let holder = Holder()
  holder.box.value.owner = holder
  use(holder)
}
@inline(never) func optional() {
  let slot = Slot()
  slot.kept = Kept(slot: slot)
  use(slot)
}
@inline(never) func lockedOptional() {
  let slot = LockedSlot()
  slot.lock.withLock { $0 = Kept(slot: slot) }
  use(slot)
}
@inline(never) func nestedOptional() {
  let nested = Nested()
  nested.box.value = Kept(slot: nested)
  use(nested)
}
@inline(never) func tuple() {
  let locked = Locked()
  locked.pair.withLock { $0.1 = locked }
  use(locked)
}
inMutex()
inCollection()
alone()
ownType()
optional()
lockedOptional()
nestedOptional()
tuple()
