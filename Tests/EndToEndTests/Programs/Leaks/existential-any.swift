// `Any` and `[String: Any]` hide the reference from the eye.
// EXPECT leak kind=retainCycle types=App.Context fields=value count=2 at=context
// EXPECT leak kind=retainCycle types=App.Bag,App.Entry fields=userInfo,bag count=2 at=bag|entry
final class Context {
  var value: Any = 0
}
final class Entry {
  var bag: Bag?
}
final class Bag {
  var userInfo: [String: Any] = [:]
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeContext() {
  let context = Context()  // @context
  context.value = context
  use(context)
}
@inline(never) func makeBag() {
  let bag = Bag()  // @bag
  let entry = Entry()  // @entry
  entry.bag = bag
  bag.userInfo["entry"] = entry
  bag.userInfo["number"] = 1
  use(bag)
}
for _ in 0..<2 { makeContext() }
for _ in 0..<2 { makeBag() }
