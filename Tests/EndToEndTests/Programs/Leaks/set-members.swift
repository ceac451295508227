// Members of a set that hold the owner of the set.
// EXPECT leak kind=retainCycle types=App.Room,App.Guest fields=guests,room count=2 at=room|guest
final class Guest: Hashable {
  let number: Int
  var room: Room?
  init(_ number: Int) { self.number = number }
  static func == (left: Guest, right: Guest) -> Bool { left.number == right.number }
  func hash(into hasher: inout Hasher) { hasher.combine(number) }
}
final class Room {
  var guests: Set<Guest> = []
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeRoom() {
  let room = Room()  // @room
  for number in 0..<6 {
    let guest = Guest(number)  // @guest
    guest.room = room
    room.guests.insert(guest)
  }
  use(room)
}
makeRoom()
makeRoom()
