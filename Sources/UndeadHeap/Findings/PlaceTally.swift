/// Counts by place, with the block that matters most of each.
struct PlaceTally<Key: Hashable> {
  struct Entry {
    var objects = 0
    var bytes: UInt64 = 0
    var block = 0
    var most: UInt64 = 0
  }

  private(set) var entries: [Key: Entry] = [:]

  mutating func add(_ key: Key, _ block: Int, bytes: UInt64) {
    var entry = entries[key] ?? Entry()
    entry.objects += 1
    entry.bytes &+= bytes
    if entry.objects == 1 || bytes > entry.most { (entry.block, entry.most) = (block, bytes) }
    entries[key] = entry
  }
}
