import CHeapTruth
import Synchronization

/// A kind of holders.
struct Kind: Sendable {
  var name: String
  /// What it holds lies in memory that is a root, or is held by a thread or the system: it does not leak with the holder.
  var isRoot = false
  /// What it holds is lost in a forked child.
  var isLostInFork = false
  /// How many may exist at a time, as they cost threads or files.
  var limit = Int.max
  var make: @Sendable () -> Holder
}

let kinds: [Kind] =
  fieldKinds + valueKinds + collectionKinds + memoryKinds + recordKinds + threadKinds
  + concurrencyKinds + serviceKinds

/// The kinds that are to be used, as indices, and how many holders of each there are.
enum Choice {
  /// By family: the name up to the second point.
  nonisolated(unsafe) static var selected: [[Int]] = []
  private static let made = Mutex([Int](repeating: 0, count: kinds.count))

  static func select(_ names: [String], except: [String]) {
    func isMeant(_ name: String, by list: [String]) -> Bool {
      list.contains { name == $0 || name.hasPrefix($0 + ".") || name.hasSuffix("." + $0) }
    }
    let indices = kinds.indices.filter { index in
      let name = kinds[index].name
      return (names.isEmpty || isMeant(name, by: names)) && !isMeant(name, by: except)
    }
    let families = Dictionary(grouping: indices) { kinds[$0].name.split(separator: ".").prefix(2) }
    selected = families.values.sorted { $0[0] < $1[0] }
  }

  /// A new holder of a random kind; nil if there are too many of it.
  static func make(_ random: inout Random) -> Holder? {
    let family = selected[random.below(selected.count)]
    let index = family[random.below(family.count)]
    let isFull = made.withLock { made in
      if made[index] >= kinds[index].limit { return true }
      made[index] += 1
      return false
    }
    if isFull { return nil }
    truth_set_kind_in_making(Int32(index))
    return kinds[index].make()
  }

  static func ended(_ kind: Int16) { made.withLock { $0[Int(kind)] -= 1 } }
}

/// Numbers from a seed.
struct Random {
  private var state: UInt64
  init(seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 0x1234_5678_9abc_def1 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
}
