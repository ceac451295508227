import ArgumentParser

/// Mean distance of sampled allocations, of `--sample`.
struct SampleSetting: Equatable {
  /// The same bounds as in the library (`undead_sample_set`).
  private static let bounds: ClosedRange<UInt64> = 1...(1 << 30)
  private static let units: [(suffix: String, factor: UInt64)] = [
    ("KIB", 1 << 10), ("MIB", 1 << 20), ("GIB", 1 << 30), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30),
    ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("B", 1),
  ]

  let bytes: UInt64

  /// Bytes of "524288", "512KiB" or "1MB"; 1 KB is 1024 bytes.
  @Sendable static func parse(_ text: String) throws -> SampleSetting {
    let upper = text.uppercased()
    let unit = units.first { upper.hasSuffix($0.suffix) }
    guard let number = UInt64(upper.dropLast(unit?.suffix.count ?? 0)) else {
      throw ValidationError("'\(text)': give a number of bytes with its unit, like 512KiB")
    }
    let (bytes, overflow) = number.multipliedReportingOverflow(by: unit?.factor ?? 1)
    guard !overflow, bounds.contains(bytes) else {
      throw ValidationError("'\(text)': one sample for so many bytes is not possible; give 1 byte to 1GiB, like 512KiB")
    }
    return SampleSetting(bytes: bytes)
  }

  /// What the library in the program reads from its environment (`Documentation/options.md`).
  var settings: [String: String] { ["UNDEAD_SAMPLE": String(bytes)] }
}
