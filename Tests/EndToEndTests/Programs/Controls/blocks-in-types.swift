// Types that are made of blocks, which the runtime cannot make without Objective-C: it must not be asked for them.
// EXPECT silent
import Dispatch

typealias Block = @convention(block) () -> Void

final class Owner {
  var done: Block?
  var pair: (Int, Block)?
  var plain: Block = {}
  var wraps: ((Block?) -> Void)?
  var name = "owner"
}
nonisolated(unsafe) var global: Block?
nonisolated(unsafe) var owners: [Owner] = []

for number in 0..<10 {
  let owner = Owner()
  owner.done = { print(number) }
  owner.plain = { [unowned owner] in print(owner.name) }
  owner.pair = (number, {})
  owners.append(owner)
}
global = { print(owners.count) }
print("owners: \(owners.count)")
