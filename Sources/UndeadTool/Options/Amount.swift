/// Numbers of the command line that have a unit.
enum Amount {
  /// The longest first; 1 KB is 1024 bytes.
  static let sizes: [(unit: String, factor: UInt64)] = [
    ("KIB", 1 << 10), ("MIB", 1 << 20), ("GIB", 1 << 30), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30),
    ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("B", 1),
  ]
  /// Milliseconds.
  static let times: [(unit: String, factor: UInt64)] = [("MS", 1), ("MIN", 60_000), ("S", 1000)]

  static func parse(_ text: String, _ units: [(unit: String, factor: UInt64)], example: String) throws -> UInt64 {
    let upper = text.uppercased()
    let unit = units.first { upper.hasSuffix($0.unit) }
    guard let number = UInt64(upper.dropLast(unit?.unit.count ?? 0)) else {
      throw ValidationError("'\(text)': give a number with its unit, like \(example)")
    }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit?.factor ?? 1)
    guard !overflow else { throw ValidationError("'\(text)' is too much") }
    return product
  }
}
