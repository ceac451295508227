/// Shares as text, the same on every machine.
enum Percent {
  /// With one digit behind the point.
  static func text(_ value: Double) -> String {
    let tenths = Int((max(0, min(value, 1000)) * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  static func of(_ part: UInt64, _ whole: UInt64) -> String {
    whole == 0 ? "" : text(Double(part) / Double(whole) * 100) + " %"
  }
}
