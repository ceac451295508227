// A key path with an object as the argument of its subscript, which refers to the owner of the key path.
// KEPT BY the key path, which keeps its arguments
// ADVICE the key path in `path` of App.Table keeps the arguments of its subscripts, among them App.Column
// FIX a value as the argument
final class Table {
  var path: KeyPath<Table, Int>?
  subscript(column: Column) -> Int { 0 }
  subscript(number: Int) -> Int { number }
}
final class Column: Hashable {
  var table: Table?
  static func == (a: Column, b: Column) -> Bool { a === b }
  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
@inline(never) func run() {
  let table = Table()
  let column = Column()
  column.table = table
  #if FIXED
    table.path = \Table[7]
  #else
    table.path = \Table[column]
  #endif
}
run()
