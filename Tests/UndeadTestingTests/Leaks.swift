import Synchronization

/// What leaks.
final class Owner {
  var item: Item?
}

final class Item {
  var owner: Owner?
}

@inline(never) func makeCycle() {
  let owner = Owner()
  owner.item = Item()
  owner.item?.owner = owner
}

/// What stays reachable.
enum Registry {
  static let owners = Mutex<[SendableOwner]>([])
}

final class SendableOwner: Sendable {}
