import Glibc

/// The pages of the tool's own code, which count as its memory as long as they are mapped.
enum OwnCode {
  private static let ranges = mapped()

  /// Gives back those that were used until now, before a wait that may be long or a step that needs other code: they come
  /// back from the file where they are needed. Only code: nobody writes to it, not even the linker.
  static func letGo() {
    for range in ranges { madvise(UnsafeMutableRawPointer(bitPattern: range.start), range.bytes, MADV_DONTNEED) }
  }

  private static func mapped() -> [(start: UInt, bytes: Int)] {
    guard let maps = fopen("/proc/self/maps", "re") else { return [] }
    var ranges: [(start: UInt, bytes: Int)] = []
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer {
      free(line)
      fclose(maps)
    }
    while getline(&line, &room, maps) > 0, let line {
      var rest: UnsafeMutablePointer<CChar>?
      let low = strtoul(line, &rest, 16)
      guard let dash = rest, dash.pointee == 0x2D else { continue }
      let high = strtoul(dash + 1, &rest, 16)
      guard let access = rest, strncmp(access, " r-xp", 5) == 0, strchr(access, 0x2F) != nil else { continue }
      ranges.append((low, Int(high - low)))
    }
    return ranges
  }
}
