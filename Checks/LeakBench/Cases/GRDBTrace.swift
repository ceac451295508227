// source: groue/GRDB.swift 81b21010f162
// A function of a C library returns text that the caller must free; it was copied to a String and not freed.
// expect: leak raw in expanded

import Glibc

enum GRDBTrace: LeakCase {
  final class Database {
    var trace: [String] = []

    @inline(never) func expanded(_ statement: String) {
      guard let text = strdup(statement) else { return }
      trace.append(String(cString: text))
      #if FIXED
        free(text)
      #endif
    }
  }

  @inline(never) static func run(rounds: Int) {
    for round in 0..<rounds { Database().expanded("SELECT \(round) FROM a_table_with_a_long_name") }
  }
}
