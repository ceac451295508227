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
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

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
