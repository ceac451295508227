#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
/// Entries by date and key, with lazy deletion: an entry is dead when its slot no longer carries its key.
///
/// Timers with one interval come in ascending order, as most timeouts do: they go through one of a few runs, first in, first
/// out, and never cost a logarithm. What fits into no run is kept aside until the first of it is due or dead, and goes into a
/// heap then. At the beginning of a pass everything that is due becomes ready, in order: that is what the pass calls, and
/// nothing that callbacks schedule meanwhile.
struct DueQueue {
  /// One more than these is for what the heap gives up at once.
  private static let laneLimit = 4
  /// Below this many dead entries compaction is not worth its constant cost.
  private static let compactionThreshold = 512
  /// So many that are due at once are sorted.
  private static let sortingThreshold = 256

  private var lanes = InlineArray<5, DueRun>(repeating: DueRun())
  private var usedLanes = 1
  private var stage = DueStage()
  private var heap = DueHeap()
  private var ready = DueRun()
  private var waiting = 0
  private var dead = 0

  @inline(__always)
  var count: Int { waiting &+ ready.count }

  @inline(__always)
  mutating func push(_ entry: DueEntry) {
    waiting &+= 1
    // The fullest lane that takes it, so that lanes of short intervals stay open for these. Empty ones come last.
    var best = -1
    var last = DueEntry.earliest
    for lane in 0..<usedLanes where !(entry < lanes[lane].last) && (best < 0 || last < lanes[lane].last) {
      best = lane
      last = lanes[lane].last
    }
    if best >= 0 { lanes[best].append(entry) } else { pushElsewhere(entry) }
  }

  @inline(never)
  private mutating func pushElsewhere(_ entry: DueEntry) {
    if usedLanes < Self.laneLimit {
      lanes[usedLanes].append(entry)
      usedLanes += 1
    } else {
      stage.push(entry)
    }
  }

  /// The first live entry, nil if there is none. Drops dead ones that come before it.
  mutating func first(_ slots: borrowing SlotTable) -> DueEntry? {
    while true {
      let waiting = firstWaiting()
      let isReady = ready.count > 0 && !(waiting.map { $0.entry < ready.first } ?? false)
      guard let entry = isReady ? ready.first : waiting?.entry else { return nil }
      if dead == 0 || slots.isLive(entry.key) { return entry }
      if !isReady, waiting?.place == Self.stagePlace {
        unstage(upTo: .min, slots)
        continue
      }
      dead &-= 1
      if isReady { ready.removeFirst() } else if let waiting { removeFirst(waiting.place) }
    }
  }

  /// Makes everything ready that is due at `instant`.
  mutating func collect(upTo instant: Int64, _ slots: borrowing SlotTable) {
    if waiting == 0 { return }
    if usedLanes == 1, waiting == lanes[0].count, lanes[0].first.due > instant { return }
    collectWaiting(upTo: instant, slots)
    if waiting == 0 { usedLanes = 1 }
  }

  @inline(never)
  private mutating func collectWaiting(upTo instant: Int64, _ slots: borrowing SlotTable) {
    guard let first = firstWaiting()?.entry, first.due <= instant else { return }
    // A pass inside of a pass: what is left of the other one is sorted in, unless all the rest comes later.
    if ready.count > 0, first < ready.last { putBack() }
    if stage.first.due <= instant, stage.count > 0 { unstage(upTo: instant, slots) }
    if heap.count > 0, lanes[Self.laneLimit].count == 0 { heap.moveMany(upTo: instant, to: &lanes[Self.laneLimit]) }
    let limit = DueEntry(due: instant, key: .max)
    while let (place, bound) = nextStretch(before: limit) { makeReady(place, before: bound, slots) }
  }

  @inline(__always)
  mutating func removeFirstReady() { ready.removeFirst() }

  /// The first ready entry, nil if there is none. Drops dead ones that come before it.
  @inline(__always)
  mutating func firstReady(_ slots: borrowing SlotTable) -> DueEntry? {
    while ready.count > 0 {
      let entry = ready.first
      if slots.isLive(entry.key) { return entry }
      ready.removeFirst()
      dead &-= 1
    }
    return nil
  }

  /// What becomes the first ready entry some fires later, nil if there is none.
  @inline(__always)
  func ready(ahead distance: Int) -> DueEntry? { ready.ahead(distance) }

  /// Counts one more dead entry, and compacts when most are dead: amortised O(1) for each deletion.
  @inline(__always)
  mutating func noteDead(_ slots: borrowing SlotTable) {
    dead &+= 1
    if dead > Self.compactionThreshold, dead &* 2 > count { compact(slots) }
  }

  @inline(never)
  mutating func compact(_ slots: borrowing SlotTable) {
    dead = 0
    ready.keepLive(slots)
    stage.keepLive(slots)
    heap.keepLive(slots)
    waiting = stage.count + heap.count
    for lane in lanes.indices {
      lanes[lane].keepLive(slots)
      waiting += lanes[lane].count
    }
  }

  mutating func rewrite(_ transform: (DueEntry) -> DueEntry) {
    ready.rewrite(transform)
    stage.rewrite(transform)
    heap.rewrite(transform)
    for lane in lanes.indices { lanes[lane].rewrite(transform) }
  }

  mutating func deallocate() {
    ready.deallocate()
    stage.deallocate()
    heap.deallocate()
    for lane in lanes.indices { lanes[lane].deallocate() }
    self = DueQueue()
  }

  // MARK: Lanes and heap

  /// The heap, in the place of a lane.
  private static let heapPlace = 5
  /// What is kept aside, likewise.
  private static let stagePlace = 6

  private func firstWaiting() -> (place: Int, entry: DueEntry)? {
    var first: (place: Int, entry: DueEntry)?
    for lane in lanes.indices where lanes[lane].count > 0 {
      if first.map({ lanes[lane].first < $0.entry }) ?? true { first = (lane, lanes[lane].first) }
    }
    if heap.count > 0, first.map({ heap.first < $0.entry }) ?? true { first = (Self.heapPlace, heap.first) }
    if stage.count > 0, first.map({ stage.first < $0.entry }) ?? true { first = (Self.stagePlace, stage.first) }
    return first
  }

  /// Where the first entry before `limit` stands, and up to where those that follow it there come first, too.
  private func nextStretch(before limit: DueEntry) -> (place: Int, bound: DueEntry)? {
    var (place, best, bound) = (-1, limit, limit)
    func look(_ entry: DueEntry, at index: Int) {
      if entry < best {
        (place, bound, best) = (index, best, entry)
      } else if entry < bound {
        bound = entry
      }
    }
    for lane in lanes.indices where lanes[lane].count > 0 { look(lanes[lane].first, at: lane) }
    if heap.count > 0 { look(heap.first, at: Self.heapPlace) }
    return place < 0 ? nil : (place, bound)
  }

  /// Moves the entries of a lane, or of the heap, that come before `bound`.
  private mutating func makeReady(_ place: Int, before bound: DueEntry, _ slots: borrowing SlotTable) {
    if place == Self.heapPlace {
      repeat {
        keep(heap.first, slots)
        heap.popTop()
        waiting &-= 1
      } while heap.count > 0 && heap.first < bound
    } else if ready.count == 0, lanes[place].last < bound {
      // All of it, as it is: its dead entries go when it is their turn.
      waiting &-= lanes[place].count
      swap(&ready, &lanes[place])
    } else {
      repeat {
        keep(lanes[place].first, slots)
        lanes[place].removeFirst()
        waiting &-= 1
      } while lanes[place].count > 0 && lanes[place].first < bound
    }
  }

  /// Puts what was kept aside into the heap; many that are due at `instant` into a lane, sorted.
  @inline(never)
  private mutating func unstage(upTo instant: Int64, _ slots: borrowing SlotTable) {
    if dead > 0 {
      let former = stage.count
      stage.keepLive(slots)
      dead &-= former - stage.count
      waiting &-= former - stage.count
    }
    let due = lanes[Self.laneLimit].count == 0 ? stage.partition(upTo: instant) : 0
    let isWorthSorting = due >= Self.sortingThreshold
    let entries = stage.entries
    if isWorthSorting {
      lanes[Self.laneLimit].fill(due) { _ = $0.update(fromContentsOf: entries[..<due]) }
    }
    heap.push(entries[(isWorthSorting ? due : 0)...])
    stage.removeAll()
  }

  @inline(__always)
  private mutating func keep(_ entry: DueEntry, _ slots: borrowing SlotTable) {
    if slots.isLive(entry.key) { ready.append(entry) } else { dead &-= 1 }
  }

  private mutating func removeFirst(_ place: Int) {
    waiting &-= 1
    if place == Self.heapPlace { heap.popTop() } else { lanes[place].removeFirst() }
  }

  /// Lets what is ready wait again.
  private mutating func putBack() {
    waiting &+= ready.count
    while ready.count > 0 {
      heap.push(ready.first)
      ready.removeFirst()
    }
  }
}
#endif
