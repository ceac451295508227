import UndeadSystem

/// The pages of the tool's own code and of its libraries' tables, which count as its memory as long as they are mapped.
enum OwnCode {
  private static let regions = mapped()

  /// Gives back those that were used until now, before a wait that may be long: they come back from the file where they are
  /// needed, for half a millisecond each time. Only what nobody writes to, not even the linker.
  static func letGo() {
    for region in regions { madvise(pointer(region), Int(region.end - region.start), MADV_DONTNEED) }
  }

  private static func pointer(_ region: MemoryMap.Region) -> UnsafeMutableRawPointer? {
    UnsafeMutableRawPointer(bitPattern: UInt(region.start))
  }

  private static func mapped() -> [MemoryMap.Region] {
    let pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC)
    defer { if pagemap >= 0 { close(pagemap) } }
    return (MemoryMap.own ?? .unknown).regions.filter { region in
      guard region.path.hasPrefix("/"), region.isReadable, !region.isWritable, !region.isShared else { return false }
      return region.isExecutable || isLikeFile(region, pagemap)
    }
  }

  /// False if a page was written to, as where the linker relocated what may only be read from then on.
  private static func isLikeFile(_ region: MemoryMap.Region, _ pagemap: Int32) -> Bool {
    var entries = [UInt64](repeating: 0, count: Int(region.end - region.start) / 4096)
    let bytes = entries.count * 8
    guard pread(pagemap, &entries, bytes, Int(region.start / 4096 * 8)) == bytes else { return false }
    // Swapped out; present, and no page of a file (Documentation/admin-guide/mm/pagemap.rst).
    return entries.allSatisfy { $0 >> 62 & 1 == 0 && ($0 >> 63 == 0 || $0 >> 61 & 1 == 1) }
  }
}
