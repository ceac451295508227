/// Blocks, jobs of the concurrency runtime, and releases that must happen on the loop's thread; first in, first out, except
/// for performers that were given an order.
///
/// Each distinct set of modes has a lane of its own: work for modes that do not run is never looked at by those that do.
struct WorkQueue {
  enum Item {
    /// The flag tells a waiting thread that the block ran, or that it never will.
    case block(() -> Void, Completion?)
    /// A block that counts as a source which was handled, as `perform(_:on:)` does.
    case call(() -> Void, Completion?)
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

  /// Items come by their order, then by their numbers; those that are no performers have the order 0.
  private struct Key: Comparable {
    var order: Int
    var number: UInt64

    static func < (left: Key, right: Key) -> Bool { (left.order, left.number) < (right.order, right.number) }
  }

  private struct Lane {
    /// In ascending order.
    let modes: [Int32]
    var items = Fifo<(number: UInt64, item: Item)>()
    /// In ascending order of their keys.
    var performers: [(performer: Performer, key: Key, item: Item)] = []

    var isEmpty: Bool { items.isEmpty && performers.isEmpty }

    func runs(in mode: Int32, _ commonModes: [Int32]) -> Bool {
      modes.contains(mode) || (modes.contains(ModeTable.commonMode) && commonModes.contains(mode))
    }

    /// The key of the first item that was added before number `limit`.
    func first(before limit: UInt64) -> Key? {
      let item = items.first.flatMap { $0.number < limit ? Key(order: 0, number: $0.number) : nil }
      guard let performer = performers.first(where: { $0.key.number < limit })?.key else { return item }
      return item.map { min($0, performer) } ?? performer
    }

    mutating func take(_ key: Key) -> Item? {
      if items.first?.number == key.number { return items.removeFirst()?.item }
      return performers.firstIndex { $0.key == key }.map { performers.remove(at: $0).item }
    }
  }

  private var lanes: [Lane] = []
  private(set) var nextNumber: UInt64 = 0

  mutating func append(_ item: Item, modes: [Int32]) {
    let lane = lane(modes)
    lanes[lane].items.append((nextNumber, item))
    nextNumber += 1
  }

  mutating func append(_ item: Item, of performer: Performer, modes: [Int32]) {
    let lane = lane(modes)
    let key = Key(order: performer.order, number: nextNumber)
    nextNumber += 1
    let place = lanes[lane].performers.firstIndex { $0.key > key } ?? lanes[lane].performers.endIndex
    lanes[lane].performers.insert((performer, key, item), at: place)
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
    var first: (lane: Int, key: Key)?
    for lane in lanes.indices where lanes[lane].runs(in: mode, commonModes) {
      guard let key = lanes[lane].first(before: limit) else { continue }
      if first.map({ key < $0.key }) ?? true { first = (lane, key) }
    }
    guard let first else { return nil }
    return lanes[first.lane].take(first.key)
  }

  func hasWork(mode: Int32, commonModes: [Int32]) -> Bool {
    lanes.contains { !$0.isEmpty && $0.runs(in: mode, commonModes) }
  }

  mutating func removeAll() -> [Item] {
    defer { lanes = [] }
    var left: [(key: Key, item: Item)] = []
    for lane in lanes.indices {
      left += lanes[lane].items.removeAll().map { (Key(order: 0, number: $0.number), $0.item) }
      left += lanes[lane].performers.map { ($0.key, $0.item) }
    }
    return left.sorted { $0.key < $1.key }.map(\.item)
  }

  /// The lane of exactly these modes, made if need be.
  private mutating func lane(_ modes: [Int32]) -> Int {
    if let known = lanes.firstIndex(where: { $0.modes == modes }) { return known }
    let modes = Set(modes).sorted()
    if let known = lanes.firstIndex(where: { $0.modes == modes }) { return known }
    // Sets of modes come and go: a lane that nobody uses makes room for another.
    if let unused = lanes.firstIndex(where: \.isEmpty) {
      lanes[unused] = Lane(modes: modes)
      return unused
    }
    lanes.append(Lane(modes: modes))
    return lanes.count - 1
  }
}
