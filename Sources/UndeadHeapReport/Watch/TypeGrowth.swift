import UndeadHeap

/// How a type has grown.
package struct TypeGrowth: Sendable, Equatable {
  package var name: String
  package var count: Trend
  package var bytes: Trend
  /// What was alive at the end.
  package var now: TypeCounts.Amount
  /// What it has grown by, by its slopes, in the time that was judged.
  package var risen: TypeCounts.Amount

  /// Less is not worth a word: a cache that fills, a buffer that doubles.
  static let leastObjects = 10.0
  static let leastBytes = 16384.0

  /// True if the number of objects certainly grows.
  package var countGrows: Bool { count.grows && risen.count >= Self.leastObjects }
  /// True if the bytes certainly grow.
  package var bytesGrow: Bool { bytes.grows && risen.bytes >= Self.leastBytes }
  package var grows: Bool { countGrows || bytesGrow }
}
