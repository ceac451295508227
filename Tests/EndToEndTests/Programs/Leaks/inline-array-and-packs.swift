// Inline arrays and parameter packs.
// EXPECT leak kind=retainCycle types=App.Grid,App.Cell fields=cells,grid count=2 at=grid|cell
// EXPECT leak kind=retainCycle types=App.Packed<* fields=values count=3
final class Cell {
  var grid: Grid?
}
final class Grid {
  var cells: InlineArray<3, Cell?> = [nil, nil, nil]
}
final class Packed<each Value> {
  var values: (repeat each Value)
  init(_ values: repeat each Value) { self.values = (repeat each values) }
}
final class Slot {
  var content: AnyObject?
}
@inline(never) @_optimize(none) func use(_ object: AnyObject) {}

@inline(never) func makeGrid() {
  let grid = Grid()  // @grid
  let cell = Cell()  // @cell
  cell.grid = grid
  grid.cells[1] = cell
  use(grid)
}
@inline(never) func makePacked() {
  let slot = Slot()
  let packed = Packed(1, slot, "text")
  slot.content = packed
  use(packed)
}
for _ in 0..<2 { makeGrid() }
for _ in 0..<3 { makePacked() }
