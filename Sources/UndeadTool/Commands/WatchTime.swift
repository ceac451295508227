import Glibc

/// A time of the command line.
struct WatchTime: Equatable {
  var seconds: Double

  private static let units: [(name: String, seconds: Double)] = [
    ("ms", 0.001), ("min", 60), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("", 1),
  ]

  /// "500ms", "1.5s", "10min"; without a unit in seconds.
  static func parse(_ text: String) throws -> WatchTime {
    for unit in units where text.hasSuffix(unit.name) {
      guard let number = Double(text.dropLast(unit.name.count)), number > 0 else { break }
      guard number * unit.seconds <= 1e8 else { break }
      return WatchTime(seconds: number * unit.seconds)
    }
    throw ValidationError("'\(text)' is no time; write for example 500ms, 30s, 10min or 2h")
  }
}
