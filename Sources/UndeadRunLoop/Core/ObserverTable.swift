#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// The observers of a loop, from the lowest order to the highest, equal ones as they were added.
struct ObserverTable: ~Copyable {
  struct Record {
    let observer: TrackedRunLoopObserver
    let number: UInt64
    var modes: [Int32]
  }

  /// Numbers are never used again, also when the table serves another loop: a stale one finds nothing.
  private var last: UInt64 = 0
  private(set) var all: [Record] = []

  mutating func insert(_ observer: TrackedRunLoopObserver, modes: [Int32]) -> UInt64 {
    last += 1
    let place = all.firstIndex { $0.observer.order > observer.order } ?? all.endIndex
    all.insert(Record(observer: observer, number: last, modes: modes), at: place)
    return last
  }

  func contains(_ number: UInt64, in mode: Int32) -> Bool {
    index(number).map { all[$0].modes.contains(mode) } ?? false
  }

  /// Whether one of the modes was new.
  mutating func add(_ number: UInt64, to modes: [Int32]) -> Bool {
    guard let known = index(number) else { return false }
    let missing = modes.filter { !all[known].modes.contains($0) }
    all[known].modes.append(contentsOf: missing)
    return !missing.isEmpty
  }

  /// Returns the observer's record if it was in no other modes.
  mutating func remove(_ number: UInt64, from modes: [Int32]) -> Record? {
    guard let known = index(number) else { return nil }
    all[known].modes.removeAll(where: modes.contains)
    return all[known].modes.isEmpty ? all.remove(at: known) : nil
  }

  mutating func remove(_ number: UInt64) -> Record? { index(number).map { all.remove(at: $0) } }

  /// The caller lets go of them without the lock.
  mutating func removeAll() -> [Record] {
    defer { all = [] }
    return all
  }

  mutating func widen(by mode: Int32) {
    for index in all.indices where all[index].modes.contains(ModeTable.commonMode) && !all[index].modes.contains(mode) {
      all[index].modes.append(mode)
    }
  }

  /// Those to call, each with the number by which it is found again.
  func observers(of activity: TrackedRunLoop.Activity, in mode: Int32) -> [Record] {
    if all.isEmpty { return [] }
    return all.filter { $0.observer.activities.contains(activity) && $0.modes.contains(mode) }
  }

  private func index(_ number: UInt64) -> Int? { all.firstIndex { $0.number == number } }
}
#endif
