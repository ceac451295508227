/// Blocks, jobs of the concurrency runtime, and releases that must happen on the loop's thread; first in, first out, except
/// for performers that were given an order.
struct WorkQueue {
  enum Item {
    /// The flag tells a waiting thread that the block ran, or that it never will.
    case block(() -> Void, Completion?)
    case job(UnownedJob)
    /// What a timer did, and with which target.
    case release(TrackedTimer.Action, AnyObject?)
  }

  /// By what a performer can be taken back.
  struct Performer {
    var target: UInt
    var name: String
    var order: Int
  }

  private struct Entry {
    var item: Item
    var modes: [Int32]
    var number: UInt64

    func runs(in mode: Int32, _ commonModes: [Int32]) -> Bool {
      modes.contains(mode) || (commonModes.contains(mode) && modes.contains(ModeTable.commonMode))
    }
  }

  /// By their order, then by their numbers. They stand beside the other items, whose order is 0.
  private var performers: [(performer: Performer, entry: Entry)] = []
  private var entries: [Entry?] = []
  private var head = 0
  private(set) var nextNumber: UInt64 = 0
  private(set) var count = 0

  mutating func append(_ item: Item, modes: [Int32]) {
    entries.append(Entry(item: item, modes: modes, number: nextNumber))
    nextNumber += 1
    count += 1
  }

  mutating func append(_ item: Item, of performer: Performer, modes: [Int32]) {
    let entry = Entry(item: item, modes: modes, number: nextNumber)
    nextNumber += 1
    count += 1
    let place = performers.firstIndex { $0.performer.order > performer.order } ?? performers.endIndex
    performers.insert((performer, entry), at: place)
  }

  /// Takes back the performers of a target, those of one name if one is given.
  mutating func removePerformers(target: UInt, name: String?) -> [Item] {
    let isMeant = { (performer: Performer) in performer.target == target && (name == nil || performer.name == name) }
    let removed = performers.filter { isMeant($0.performer) }.map(\.entry.item)
    performers.removeAll { isMeant($0.performer) }
    count -= removed.count
    return removed
  }

  /// The first item for `mode` that was added before number `limit`.
  mutating func take(mode: Int32, commonModes: [Int32], before limit: UInt64) -> Item? {
    guard count > 0 else { return nil }
    let index = firstIndex(mode: mode, commonModes: commonModes)
    let number = index.flatMap { entries[$0]?.number }
    // Performers that come before the other items, which have the order 0.
    let first = performers.firstIndex { performer, entry in
      guard entry.number < limit, entry.runs(in: mode, commonModes) else { return false }
      return number.map { (performer.order, entry.number) < (0, $0) || $0 >= limit } ?? true
    }
    if let first {
      count -= 1
      return performers.remove(at: first).entry.item
    }
    return index.flatMap { take(at: $0, before: limit) }
  }

  private mutating func take(at index: Int, before limit: UInt64) -> Item? {
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
    guard count > 0 else { return false }
    return firstIndex(mode: mode, commonModes: commonModes) != nil
      || performers.contains { $0.entry.runs(in: mode, commonModes) }
  }

  mutating func removeAll() -> [Item] {
    let left = entries.compactMap { $0?.item } + performers.map(\.entry.item)
    entries = []
    performers = []
    head = 0
    count = 0
    return left
  }

  private func firstIndex(mode: Int32, commonModes: [Int32]) -> Int? {
    entries[head...].firstIndex { $0?.runs(in: mode, commonModes) ?? false }
  }
}
