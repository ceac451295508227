// Collections of Foundation that hold each other.
// KEPT BY each other
// ADVICE these objects are the toolchain's and hold each other
// FIX remove one from the other
import Foundation

@inline(never) func run() {
  let rows = NSMutableArray()
  let columns = NSMutableArray()
  rows.add(columns)
  columns.add(rows)
  #if FIXED
    columns.removeAllObjects()
  #endif
}
run()
