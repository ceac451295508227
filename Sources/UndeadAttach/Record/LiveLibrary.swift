import UndeadSystem

/// The copy of the library that was put into a living program.
package struct LiveLibrary {
  package let image: TargetImage

  /// Finds it among the mappings of a process; nil if there is none.
  package init?(in maps: MemoryMap, memory: TargetMemory) {
    let name = "/memfd:\(LiveCall.fileName)"
    for (path, start) in maps.imageStarts where path.hasPrefix(name) {
      guard let image = TargetImage(path: path, start: start, memory: memory),
        image.address(of: "undead_record_attached") != nil
      else { continue }
      self.image = image
      return
    }
    return nil
  }

  /// The log of uses of dead objects; nil if nobody looks for any.
  package func zombieLog(_ memory: TargetMemory) -> [UInt8]? {
    let usedOffset: UInt64 = 32
    guard let place = image.address(of: "undead_zombie_log_memory"), let start = memory.load(UInt64.self, at: place),
      start != 0, let used = memory.load(UInt64.self, at: start + usedOffset), used <= 1 << 20
    else { return nil }
    return memory.read(at: start, count: Int(used))
  }
}
