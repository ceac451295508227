// What handlers at exit take down still held its objects when the program ended: a table of C, as libraries have them, and
// containers of C++ that are static in a function.
// EXPECT silent
// CASE taken-down-after-main
// ARGS return
// CASE taken-down-after-exit
// ARGS exit
import Glibc

final class Item {
  let number: Int
  init(_ number: Int) { self.number = number }
}
nonisolated(unsafe) let table = calloc(64, MemoryLayout<UnsafeRawPointer>.size)!
for index in 0..<64 {
  let item = Unmanaged.passRetained(Item(index)).toOpaque()
  table.storeBytes(of: item, toByteOffset: 8 * index, as: UnsafeMutableRawPointer.self)
}
atexit {
  memset(table, 0, 512)
  free(table)
}
if CommandLine.arguments[1] == "exit" { exit(0) }
