import Glibc

/// The pages of the tool's own code and of its libraries' tables, which count as its memory as long as they are mapped.
enum OwnCode {
  private static let ranges = mapped()

  /// Gives back those that were used until now, before a wait that may be long or a step that needs other code: they come
  /// back from the file where they are needed. Only what nobody writes to, not even the linker.
  static func letGo() {
    for range in ranges { madvise(UnsafeMutableRawPointer(bitPattern: range.start), range.bytes, MADV_DONTNEED) }
  }

  private static func mapped() -> [(start: UInt, bytes: Int)] {
    guard let maps = fopen("/proc/self/maps", "re") else { return [] }
    let pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
    var ranges: [(start: UInt, bytes: Int)] = []
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer {
      free(line)
      fclose(maps)
      if pagemap >= 0 { close(pagemap) }
    }
    while getline(&line, &room, maps) > 0, let line {
      var rest: UnsafeMutablePointer<CChar>?
      let low = strtoul(line, &rest, 16)
      guard let dash = rest, dash.pointee == 0x2D else { continue }
      let high = strtoul(dash + 1, &rest, 16)
      guard let access = rest, strchr(access, 0x2F) != nil else { continue }
      let isTable = strncmp(access, " r--p", 5) == 0 && isLikeFile(low, high, pagemap)
      if isTable || strncmp(access, " r-xp", 5) == 0 { ranges.append((low, Int(high - low))) }
    }
    return ranges
  }

  /// False if a page was written to, as where the linker relocated what may only be read from then on.
  private static func isLikeFile(_ low: UInt, _ high: UInt, _ pagemap: Int32) -> Bool {
    var entries = [UInt64](repeating: 0, count: Int(high - low) / 4096)
    let bytes = entries.count * 8
    guard pread(pagemap, &entries, bytes, Int(low / 4096 * 8)) == bytes else { return false }
    // Swapped out; present, and no page of a file (Documentation/admin-guide/mm/pagemap.rst).
    return entries.allSatisfy { $0 >> 62 & 1 == 0 && ($0 >> 63 == 0 || $0 >> 61 & 1 == 1) }
  }
}
