/// Blocks, jobs of the concurrency runtime, and releases that must happen on the loop's thread; first in, first out.
struct WorkQueue {
  enum Item {
    /// The flag tells a waiting thread that the block ran, or that it never will.
    case block(() -> Void, Completion?)
    case job(UnownedJob)
    case release(TrackedTimer.Action)
  }

  private struct Entry {
    var item: Item
    var modes: [Int32]
    var number: UInt64
  }

  private var entries: [Entry?] = []
  private var head = 0
  private(set) var nextNumber: UInt64 = 0
  private(set) var count = 0

  mutating func append(_ item: Item, modes: [Int32]) {
    entries.append(Entry(item: item, modes: modes, number: nextNumber))
    nextNumber += 1
    count += 1
  }

  /// The first item for `mode` that was added before number `limit`.
  mutating func take(mode: Int32, commonModes: [Int32], before limit: UInt64) -> Item? {
    guard count > 0, let index = firstIndex(mode: mode, commonModes: commonModes) else { return nil }
    guard let entry = entries[index], entry.number < limit else { return nil }
    entries[index] = nil
    count -= 1
    while head < entries.count, entries[head] == nil { head += 1 }
    let worthCompacting = 1024
    if head == entries.count {
      entries.removeAll(keepingCapacity: true)
      head = 0
    } else if head > worthCompacting, head * 2 > entries.count {
      entries.removeFirst(head)
      head = 0
    }
    return entry.item
  }

  func hasWork(mode: Int32, commonModes: [Int32]) -> Bool {
    count > 0 && firstIndex(mode: mode, commonModes: commonModes) != nil
  }

  mutating func removeAll() -> [Item] {
    let left = entries.compactMap { $0?.item }
    entries = []
    head = 0
    count = 0
    return left
  }

  private func firstIndex(mode: Int32, commonModes: [Int32]) -> Int? {
    let isCommon = commonModes.contains(mode)
    return entries[head...].firstIndex { entry in
      guard let modes = entry?.modes else { return false }
      return modes.contains(mode) || (isCommon && modes.contains(ModeTable.commonMode))
    }
  }
}
