// Cycles through collections.
import Foundation

@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

// Objects as keys of a dictionary that they hold.
// EXPECT leak kind=retainCycle types=App.Board,App.Piece fields=places,board count=2 at=board|piece
final class Piece: Hashable {
  var board: Board?
  static func == (left: Piece, right: Piece) -> Bool { left === right }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
final class Board {
  var places: [Piece: Int] = [:]
}

@inline(never) func makeBoard() {
  let board = Board()  // @board
  for place in 0..<4 {
    let piece = Piece()  // @piece
    piece.board = board
    board.places[piece] = place
  }
  use(board)
}
makeBoard()
makeBoard()

// Sessions held in the values of a dictionary that hold the registry.
// EXPECT leak kind=retainCycle types=App.Registry,App.Session fields=sessions,registry count=3 at=registry|session
final class Registry {
  var sessions: [String: Session] = [:]
}
final class Session {
  let registry: Registry
  init(registry: Registry) { self.registry = registry }
}

@inline(never) func makeRegistry() {
  let registry = Registry()  // @registry
  for name in ["anna", "bert", "cleo"] {
    registry.sessions[name] = Session(registry: registry)  // @session
  }
  use(registry)
}
for _ in 0..<3 { makeRegistry() }

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

// A tree whose children hold their parent strongly, through an array.
// EXPECT leak kind=retainCycle types=App.Folder fields=children,parent count=2 at=root|child
final class Folder {
  let name: String
  var children: [Folder] = []
  var parent: Folder?
  init(_ name: String) { self.name = name }
  func add(_ name: String) {
    let child = Folder(name)  // @child
    child.parent = self
    children.append(child)
  }
}

@inline(never) func makeTree() {
  let root = Folder("root")  // @root
  for index in 0..<5 { root.add("child \(index)") }
  use(root)
}
makeTree()
makeTree()

// Foundation collections that contain themselves or the object that holds them.
// EXPECT leak kind=retainCycle types=Foundation.NSMutableArray count=3
// EXPECT leak kind=retainCycle types=App.Cart fields=items count=2
// EXPECT leak kind=retainCycle types=App.Index fields=entries count=2
final class Cart: NSObject {
  let items = NSMutableArray()
  var total = 0.0
}
final class Index: NSObject {
  let entries = NSMutableDictionary()
}

@inline(never) func makeArray() {
  let array = NSMutableArray()
  array.add(array)
  use(array)
}
@inline(never) func makeCart() {
  let cart = Cart()
  cart.items.add("apple")
  cart.items.add(cart)
  use(cart)
}
@inline(never) func makeIndex() {
  let index = Index()
  index.entries["self"] = index
  use(index)
}
for _ in 0..<3 { makeArray() }
for _ in 0..<2 { makeCart() }
for _ in 0..<2 { makeIndex() }
