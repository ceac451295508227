import UndeadHeap
import UndeadHeapReport
import UndeadSystem

/// Amounts and what became of them.
enum Change {
  static func signed(_ value: Int) -> String { value > 0 ? "+\(Quantity.grouped(value))" : Quantity.grouped(value) }

  static func bytes(_ value: Int) -> String {
    (value > 0 ? "+" : "") + Quantity.bytes(value)
  }

  /// "`.sessions` of `App.Cache`", or the root.
  static func place(type: String, field: String) -> String {
    field.isEmpty ? Number.readable(type) : "`\(Names.field(field))` of `\(Number.readable(type))`"
  }
}
