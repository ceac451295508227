#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Blocks, jobs of the concurrency runtime, and releases that must happen on the loop's thread; first in, first out, except
/// for performers that were given an order.
///
/// Each distinct set of modes has a lane of its own: work for modes that do not run is never looked at by those that do.
struct WorkQueue {
  enum Item {
    /// By the flag a waiting thread sees that the block ran, or that it never will.
    case block(() -> Void, Completion?)
    /// A block that counts as a source which was handled, as `perform(_:on:)` does.
    case call(() -> Void, Completion?)
    case job(UnownedJob)
    /// What a timer did, and with which target.
    case release(TrackedTimer.Kept?, AnyObject?)
  }

  /// By what a performer can be taken back.
  struct Performer {
    var target: UInt
    var name: String
    var order: Int
  }

  /// Items come by their order, then by their numbers; those that are no performers have the order 0.
  private struct Key: Comparable {
    var order: Int
    var number: UInt64

    static func < (left: Key, right: Key) -> Bool { (left.order, left.number) < (right.order, right.number) }
  }

  private struct Lane {
    /// In ascending order.
    let modes: [Int32]
    /// The mode, if there is only one.
    let single: Int32?
    var items = Fifo<(number: UInt64, item: Item)>()
    /// In descending order of their keys: they leave at the end.
    var performers: [(performer: Performer, key: Key, item: Item)] = []

    init(modes: [Int32]) {
      self.modes = modes
      single = modes.count == 1 ? modes[0] : nil
    }

    @inline(__always)
    var isEmpty: Bool { items.isEmpty && performers.isEmpty }

    func runs(in mode: Int32, _ commonModes: [Int32]) -> Bool {
      modes.contains(mode) || (modes.contains(ModeTable.commonMode) && commonModes.contains(mode))
    }

    /// The key of the first item that was added before number `limit`.
    @inline(__always)
    func first(before limit: UInt64) -> Key? {
      let number = items.first?.pointee.number ?? .max
      let item = number < limit ? Key(order: 0, number: number) : nil
      if performers.isEmpty { return item }
      guard let performer = performers.last(where: { $0.key.number < limit })?.key else { return item }
      return item.map { min($0, performer) } ?? performer
    }

    mutating func take(_ key: Key) -> Item? {
      if items.first?.pointee.number == key.number { return items.removeFirst()?.item }
      return performers.lastIndex { $0.key == key }.map { performers.remove(at: $0).item }
    }

    mutating func insert(_ item: Item, _ performer: Performer, _ key: Key) {
      var (low, high) = (0, performers.count)
      while low < high {
        let middle = (low + high) / 2
        if performers[middle].key > key { low = middle + 1 } else { high = middle }
      }
      performers.insert((performer, key, item), at: low)
    }
  }

  private var lanes = InPlaceList<Lane>()
  /// The lanes that `servedMode` runs; found anew when the mode, the common modes, or a lane's modes change.
  private var served = InPlaceList<Int>()
  private var servedMode: Int32 = -1
  private var servedCommonModes = 0
  private(set) var nextNumber: UInt64 = 0

  /// How many items wait, for whatever modes.
  var count: Int { lanes.indices.reduce(0) { $0 + lanes[$1].items.count + lanes[$1].performers.count } }
  /// For how many items there is room.
  var capacity: Int { lanes.indices.reduce(0) { $0 + lanes[$1].items.capacity } }
  var laneCount: Int { lanes.count }

  mutating func append(_ item: consuming Item, mode: Int32) {
    append(item, lane: lanes.firstIndex { $0.single == mode } ?? makeLane([mode]))
  }

  mutating func append(_ item: consuming Item, modes: [Int32]) {
    append(item, lane: lane(modes))
  }

  @inline(__always)
  private mutating func append(_ item: consuming Item, lane: Int) {
    lanes[lane].items.append((nextNumber, item))
    nextNumber &+= 1
  }

  mutating func append(_ item: Item, of performer: Performer, modes: [Int32]) {
    let lane = lane(modes)
    lanes[lane].insert(item, performer, Key(order: performer.order, number: nextNumber))
    nextNumber &+= 1
  }

  /// Takes back the performers of a target, those of one name if one is given.
  mutating func removePerformers(target: UInt, name: String?) -> [Item] {
    var removed: [Item] = []
    for lane in lanes.indices {
      lanes[lane].performers.removeAll { performer, _, item in
        guard performer.target == target, name == nil || performer.name == name else { return false }
        removed.append(item)
        return true
      }
    }
    return removed
  }

  /// The first item for `mode` that was added before number `limit`.
  mutating func take(mode: Int32, commonModes: [Int32], before limit: UInt64) -> Item? {
    serve(mode, commonModes)
    var lane = -1
    var key = Key(order: .max, number: .max)
    for index in 0..<served.count {
      let candidate = served[index]
      if lanes[candidate].isEmpty { continue }
      guard let first = lanes[candidate].first(before: limit), first < key else { continue }
      lane = candidate
      key = first
    }
    return lane < 0 ? nil : lanes[lane].take(key)
  }

  mutating func hasWork(mode: Int32, commonModes: [Int32]) -> Bool {
    serve(mode, commonModes)
    return served.contains { !lanes[$0].isEmpty }
  }

  /// All items, in the order in which they would have run.
  mutating func removeAll() -> [Item] {
    var left: [(key: Key, item: Item)] = []
    for lane in lanes.indices {
      left += lanes[lane].items.removeAll().map { (Key(order: 0, number: $0.number), $0.item) }
      left += lanes[lane].performers.map { ($0.key, $0.item) }
    }
    lanes.removeAll()
    servedMode = -1
    return left.sorted { $0.key < $1.key }.map(\.item)
  }

  @inline(__always)
  private mutating func serve(_ mode: Int32, _ commonModes: [Int32]) {
    if servedMode == mode, servedCommonModes == commonModes.count { return }
    findServed(mode, commonModes)
  }

  @inline(never)
  private mutating func findServed(_ mode: Int32, _ commonModes: [Int32]) {
    servedMode = mode
    // A mode that is common once stays so.
    servedCommonModes = commonModes.count
    served.removeAll()
    for lane in lanes.indices where lanes[lane].runs(in: mode, commonModes) { served.append(lane) }
  }

  /// The lane of exactly these modes, made if need be.
  private mutating func lane(_ modes: [Int32]) -> Int {
    if let known = lanes.firstIndex(where: { $0.modes == modes }) { return known }
    let modes = Set(modes).sorted()
    return lanes.firstIndex { $0.modes == modes } ?? makeLane(modes)
  }

  private mutating func makeLane(_ modes: [Int32]) -> Int {
    servedMode = -1
    // Sets of modes come and go: a lane that nobody uses makes room for another.
    if let unused = lanes.firstIndex(where: \.isEmpty) {
      lanes[unused].items.deallocate()
      lanes[unused] = Lane(modes: modes)
      return unused
    }
    lanes.append(Lane(modes: modes))
    return lanes.count - 1
  }
}
#endif
