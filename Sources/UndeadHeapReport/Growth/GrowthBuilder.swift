import UndeadHeap
import UndeadReport

/// Tells what grew, by container.
struct GrowthBuilder {
  private let old: GrowthSide
  private let new: GrowthSide
  private let names: GrowthNames
  private let groups: GrowthGroups
  private let byKey: GrowthTally
  private let pairing: HeapPairing?

  init(
    _ old: GrowthSide, _ new: GrowthSide, _ names: GrowthNames, _ groups: GrowthGroups, _ byKey: GrowthTally,
    _ pairing: HeapPairing?
  ) {
    (self.old, self.new, self.names, self.groups, self.byKey, self.pairing) = (old, new, names, groups, byKey, pairing)
  }

  func build(_ sites: inout GrowthSites) -> [HeapDiff.Growth] {
    let totals = GrowthTotals(old, new, groups, pairing)
    var growths: [HeapDiff.Growth] = []
    for group in groups.keys.indices where totals.bytes[group].after > totals.bytes[group].before {
      growths.append(growth(group, totals, &sites))
    }
    return Self.withTimersOfSleeps(growths).sorted { a, b in
      (b.bytes, b.count, a.type, a.containerType, a.field) < (a.bytes, a.count, b.type, b.containerType, b.field)
    }
  }

  /// The runtime makes a task of its own for each `Task.sleep`, and libdispatch some records. These grow with it, and are shown with it.
  private static func withTimersOfSleeps(_ growths: [HeapDiff.Growth]) -> [HeapDiff.Growth] {
    let ofRuntime = growths.indices.filter { growths[$0].retainPath.first?.root?.name == RetainPaths.taskName(nil) }
    guard let task = ofRuntime.max(by: { growths[$0].count < growths[$1].count }) else { return growths }
    let timers = growths.indices.filter { isOfTimers(growths[$0]) && growths[$0].count <= growths[task].count * 2 }
    var result = growths
    for timer in timers { result[task].add(growths[timer]) }
    return result.indices.filter { !timers.contains($0) }.map { result[$0] }
  }

  /// Whether only records of libdispatch lie between its timers and what grew.
  private static func isOfTimers(_ growth: HeapDiff.Growth) -> Bool {
    growth.retainPath.first?.root?.name == "_dispatch_timers_heap"
      && growth.retainPath.allSatisfy { $0.type.hasPrefix("dispatch ") || $0.type.hasPrefix(NodeNames.foreignMemory) }
  }

  private func growth(_ group: Int, _ totals: GrowthTotals, _ sites: inout GrowthSites) -> HeapDiff.Growth {
    let key = mainKey(group)
    let (type, place) = (names.keys[key].type, names.places[Int(names.keys[key].place)])
    let isStorage = names.storage[Int(type)] != nil && byKey.count(key) <= 0
    let bytes = totals.bytes[group]
    var growth = HeapDiff.Growth(
      type: names.types[Int(type)].type, module: names.types[Int(type)].module, containerType: place.type,
      field: place.field, before: .init(count: byKey.before[key].count, bytes: bytes.before),
      after: .init(count: byKey.after[key].count, bytes: bytes.after),
      with: with(group, except: type, totals), sites: sites.sites(ofKey: UInt32(key)).map(HeapDiff.Site.init),
      retainPath: totals.examples[UInt32(key)].map { new.heap.retainPath(to: $0.block, sites.after.frames) } ?? [])
    if pairing != nil {
      growth.turnover = HeapDiff.Turnover(
        came: totals.turnover[UInt32(key)]?.came ?? 0, went: totals.turnover[UInt32(key)]?.went ?? 0)
    }
    let elements = totals.elements[group]
    // The elements of strings and Data are bytes, which are shown anyway.
    if isStorage, names.storage[Int(type)]?.isCollection == true, elements.after != elements.before {
      growth.elements = .init(before: elements.before, after: elements.after)
    }
    return growth
  }

  /// The type that names the group: one of the program rather than one of the toolchain, an object rather than its
  /// storage; then the one with most bytes.
  private func mainKey(_ group: Int) -> Int {
    func rank(_ key: UInt32) -> (Int, Int, Int) {
      let type = Int(names.keys[Int(key)].type)
      let isProgram = new.programTypes.contains(UInt32(type)) ? 1 : 0
      let isObject = names.storage[type] == nil ? 1 : 0
      return (isProgram, isObject, byKey.bytes(Int(key)))
    }
    return Int(groups.keys[group].max { rank($0) < rank($1) } ?? 0)
  }

  private func with(_ group: Int, except main: UInt32, _ totals: GrowthTotals) -> [TypeCount] {
    var result: [TypeCount] = []
    for (number, amounts) in totals.types where number >> 32 == UInt64(group) {
      let type = Int(number & UInt64(UInt32.max))
      let added = (amounts.after.count.minus(amounts.before.count), amounts.after.bytes.minus(amounts.before.bytes))
      guard type != Int(main), added.1 > 0 else { continue }
      result.append(TypeCount(type: names.types[type].type, count: added.0, bytes: added.1))
    }
    return result.sorted { ($1.bytes, $1.count, $0.type) < ($0.bytes, $0.count, $1.type) }
  }
}

extension HeapDiff.Growth {
  /// Shows another one with this.
  fileprivate mutating func add(_ other: HeapDiff.Growth) {
    before.bytes.addSaturating(UInt64(clamping: other.before.bytes))
    after.bytes.addSaturating(UInt64(clamping: other.after.bytes))
    let known = with.firstIndex { $0.type == other.type }
    let new = LeakReport.TypeCount(
      type: other.type, count: other.count + (known.map { with[$0].count } ?? 0),
      bytes: other.bytes + (known.map { with[$0].bytes } ?? 0))
    if let known { with[known] = new } else { with.append(new) }
    with.sort { ($1.bytes, $1.count, $0.type) < ($0.bytes, $0.count, $1.type) }
  }
}
