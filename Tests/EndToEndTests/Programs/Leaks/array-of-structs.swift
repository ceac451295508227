// References at a stride inside arrays of structs, tuples and slices.
// EXPECT leak kind=retainCycle types=App.Table,App.Column fields=rows,table count=2 at=table|column
// EXPECT leak kind=retainCycle types=App.Track fields=pairs count=2 at=track
// EXPECT leak kind=retainCycle types=App.Window fields=tail count=2 at=window
struct Row {
  var index: Int
  var width: Double
  var column: Column?
}
final class Column {
  var table: Table?
}
final class Table {
  var rows: [Row] = []
}
final class Track {
  var pairs: [(Int, Track?)] = []
}
final class Window {
  var tail: ArraySlice<Window> = []
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeTable() {
  let table = Table()  // @table
  let column = Column()  // @column
  column.table = table
  for index in 0..<5 { table.rows.append(Row(index: index, width: 2.5, column: index == 3 ? column : nil)) }
  use(table)
}
@inline(never) func makeTrack() {
  let track = Track()  // @track
  track.pairs = [(1, nil), (2, nil), (3, track)]
  use(track)
}
@inline(never) func makeWindow() {
  let window = Window()  // @window
  window.tail = [window, window, window][1...]
  use(window)
}
for _ in 0..<2 { makeTable() }
for _ in 0..<2 { makeTrack() }
for _ in 0..<2 { makeWindow() }
