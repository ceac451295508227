/// Compressed core files, as services that collect them keep them.
enum CoreCompression {
  private static let kinds: [(magic: [UInt8], suffix: String, command: String)] = [
    ([0x28, 0xB5, 0x2F, 0xFD], ".zst", "zstd -d"),
    ([0x04, 0x22, 0x4D, 0x18], ".lz4", "lz4 -d"),
    ([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0x00], ".xz", "xz -dk"),
    ([0x1F, 0x8B], ".gz", "gunzip -k"),
    ([0x42, 0x5A, 0x68], ".bz2", "bunzip2 -k"),
  ]

  /// What to do with a compressed file; nil if it is none.
  static func hint(_ start: [UInt8], path: String) -> String? {
    guard let kind = kinds.first(where: { start.starts(with: $0.magic) }) else { return nil }
    let collected = path.contains("/systemd/coredump/") ? ", or let 'coredumpctl dump --output FILE' write it" : ""
    return "it is compressed; uncompress it first: \(kind.command) '\(path)'\(collected)"
  }
}
