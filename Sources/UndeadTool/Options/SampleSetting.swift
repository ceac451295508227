/// Mean distance of sampled allocations, of `--sample`.
struct SampleSetting: Equatable {
  /// The same bounds as in the library (`undead_sample_set`).
  private static let bounds: ClosedRange<UInt64> = 1...(1 << 30)

  let bytes: UInt64

  /// Bytes of "524288", "512KiB" or "1MB"; 1 KB is 1024 bytes.
  @Sendable static func parse(_ text: String) throws -> SampleSetting {
    let bytes = try Amount.parse(text, Amount.sizes, example: "512KiB")
    guard bounds.contains(bytes) else {
      throw ValidationError("'\(text)': one sample for so many bytes is not possible; give 1 byte to 1GiB, like 512KiB")
    }
    return SampleSetting(bytes: bytes)
  }

  /// What the library in the program reads from its environment (`Documentation/options.md`).
  var settings: [String: String] { ["UNDEAD_SAMPLE": String(bytes)] }
}
