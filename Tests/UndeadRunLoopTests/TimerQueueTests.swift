import Testing
import UndeadTestSupport

@testable import UndeadRunLoop

/// How the dates of a test follow one another.
enum DueDates: CaseIterable {
  case ascending, equal, descending, random, mostlyAscending, fewIntervals, farFirst

  func due(_ index: Int, now: Int64, _ random: inout SeededGenerator) -> Int64 {
    switch self {
    case .ascending: Int64(index)
    case .equal: 7
    case .descending: Int64(-index)
    case .random: now + Int64.random(in: -300...1000, using: &random)
    case .mostlyAscending: Int64(index) - (index % 7 == 0 ? Int64.random(in: 0...50, using: &random) : 0)
    case .fewIntervals: now + [10, 100, 1000, 30, 500, 77][index % 6]
    case .farFirst: index == 0 ? .max / 2 : now + Int64.random(in: 0...3, using: &random)
    }
  }
}

/// The queue of timers against a list, by seed.
@Suite(.timeLimit(.minutes(20))) struct TimerQueueTests {
  /// Does everything twice: to the queue, and to a list of what should be in it.
  private final class Model {
    struct Entry {
      var timer: TrackedTimer
      var order: Int
      var modes: [Int32]
      /// A pass that is under way has it before it.
      var isReady = false
    }

    static let sets: [[Int32]] = [[0], [0, 1, 2], [2], [1, 2], [0, 3]]
    var queue = TimerQueue()
    var entries: [Entry] = []
    var order = 0
    var made = 0
    var now: Int64 = 0
    var random: SeededGenerator
    let dates: DueDates

    init(seed: UInt64, _ dates: DueDates) {
      random = SeededGenerator(seed: seed)
      self.dates = dates
      queue.prepare([[0], [0, 1, 2]])
      if seed % 5 == 0 { queue.sequence = DueKey.sequenceLimit - UInt64.random(in: 2...300, using: &random) }
    }

    deinit { for entry in entries { queue.remove(entry.timer).release() } }

    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    func nextOrder() -> Int {
      order += 1
      return order
    }
    var nextDate: Int64 {
      made += 1
      return dates.due(made - 1, now: now, &random)
    }
    var someLeeway: Int64 { number(0..<3) == 0 ? Int64(number(1..<200)) : 0 }

    func insert() {
      let modes = Self.sets[number(0..<Self.sets.count)]
      let timer = TrackedTimer(due: nextDate, period: 1000, flags: [], action: .block { _ in })
      timer.leeway = someLeeway
      let set = queue.set(modes)
      queue.insert(timer, Unmanaged.passRetained(timer), set: set)
      queue.queue(timer)
      entries.append(Entry(timer: timer, order: nextOrder(), modes: modes))
    }

    func remove(_ index: Int) { queue.remove(entries.remove(at: index).timer).release() }

    func reschedule(_ index: Int) {
      let timer = entries[index].timer
      queue.unqueue(timer)
      timer.due = nextDate
      timer.leeway = someLeeway
      queue.queue(timer)
      requeued(index)
    }

    func move(_ index: Int) {
      let modes = Self.sets[number(0..<Self.sets.count)]
      let set = queue.set(modes)
      queue.move(entries[index].timer, to: set)
      entries[index].modes = modes
      requeued(index)
    }

    private func requeued(_ index: Int) {
      entries[index].order = nextOrder()
      entries[index].isReady = false
    }

    func change() {
      let choice = number(0..<10)
      if choice < 5 || entries.isEmpty { return insert() }
      let index = number(0..<entries.count)
      switch choice {
      case 5, 6: remove(index)
      case 7, 8: reschedule(index)
      default: move(index)
      }
    }

    private func contained(_ mode: Int32) -> [Entry] { entries.filter { $0.modes.contains(mode) } }

    /// Whether the queue and the list agree on when something is to be done.
    func agrees(_ mode: Int32) -> Bool {
      let all = contained(mode)
      let due = all.map(\.timer.due).min()
      let wake = all.map { $0.isReady ? $0.timer.due : $0.timer.latest }.min() ?? .max
      return queue.nextDue(mode: mode) == due && queue.nextWake(mode: mode) == wake
        && queue.hasTimers(in: mode) == !all.isEmpty && queue.count == entries.count
    }

    /// One pass; callbacks change things, and some begin a pass of their own. False if something came in the wrong order.
    func pass(_ mode: Int32, depth: Int = 0) -> Bool {
      queue.collect(mode: mode, at: now)
      for index in entries.indices where entries[index].modes.contains(mode) && entries[index].timer.due <= now {
        entries[index].isReady = true
      }
      while true {
        let ready = entries.indices.filter { entries[$0].isReady && entries[$0].modes.contains(mode) }
        let expected = ready.min {
          (entries[$0].timer.due, entries[$0].order) < (entries[$1].timer.due, entries[$1].order)
        }
        let next = queue.next(mode: mode)?.takeUnretainedValue()
        guard let expected else { return next == nil }
        guard let next, next === entries[expected].timer else { return false }
        next.flags.remove(.firing)
        remove(expected)
        while number(0..<3) == 0 { change() }
        if depth < 2, number(0..<8) == 0 {
          now += Int64(number(0..<50))
          let inner = Int32(number(0..<4))
          guard agrees(inner), pass(inner, depth: depth + 1) else { return false }
        }
      }
    }
  }

  @Test(arguments: DueDates.allCases)
  func randomOperationsKeepTheOrder(dates: DueDates) {
    for seed in 0..<UInt64(Thorough.count(20, of: 60)) {
      let model = Model(seed: seed, dates)
      for step in 0..<60 {
        for _ in 0..<model.number(0..<12) { model.change() }
        model.now += Int64(model.number(0..<40))
        let mode = Int32(model.number(0..<4))
        #expect(model.agrees(mode), "seed \(seed), step \(step)")
        guard model.pass(mode) else {
          Issue.record("wrong order: seed \(seed), step \(step)")
          return
        }
        #expect(model.agrees(mode), "seed \(seed), step \(step)")
      }
    }
  }

  @Test(arguments: DueDates.allCases)
  func manyAtOnceComeInTheirOrder(dates: DueDates) {
    var random = SeededGenerator(seed: 7)
    var queue = TimerQueue()
    queue.prepare([[0]])
    let timers = (0..<20_000).map {
      TrackedTimer(due: dates.due($0, now: 0, &random), period: 1000, flags: [], action: .block { _ in })
    }
    for timer in timers {
      queue.insert(timer, Unmanaged.passRetained(timer), set: 0)
      queue.queue(timer)
    }
    let cancelled = Set(timers.filter { _ in Bool.random(using: &random) }.map(ObjectIdentifier.init))
    for timer in timers where cancelled.contains(ObjectIdentifier(timer)) { queue.remove(timer).release() }
    var expected = timers.enumerated().filter { !cancelled.contains(ObjectIdentifier($0.element)) }
    expected.sort { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }
    var fired: [TrackedTimer] = []
    // Half of the time, then all of it.
    for instant in [200, Int64.max] {
      queue.collect(mode: 0, at: instant)
      while let reference = queue.next(mode: 0) {
        let timer = reference.takeUnretainedValue()
        #expect(timer.due <= instant)
        queue.remove(timer).release()
        fired.append(timer)
      }
    }
    #expect(fired.map(ObjectIdentifier.init) == expected.map { ObjectIdentifier($0.element) })
    #expect(queue.count == 0)
  }

  @Test func aQueueThatWasLargeGivesItsMemoryBack() {
    var queue = TimerQueue()
    queue.prepare([[0]])
    let timers = (0..<300_000).map {
      TrackedTimer(due: Int64($0 % 1000), period: 1000, flags: [], action: .block { _ in })
    }
    for timer in timers {
      queue.insert(timer, Unmanaged.passRetained(timer), set: 0)
      queue.queue(timer)
    }
    #expect(queue.capacity >= timers.count)
    for timer in timers { queue.remove(timer).release() }
    #expect(queue.capacity == 0 && queue.nextWake(mode: 0) == .max && queue.nextDue(mode: 0) == nil)
    queue.insert(timers[7], Unmanaged.passRetained(timers[7]), set: 0)
    queue.queue(timers[7])
    queue.collect(mode: 0, at: 7)
    #expect(queue.next(mode: 0)?.takeUnretainedValue() === timers[7] && queue.next(mode: 0) == nil)
    queue.remove(timers[7]).release()
    queue.releaseMemory()
  }

  @Test(arguments: DueDates.allCases)
  func deadEntriesDoNotPileUp(dates: DueDates) {
    var random = SeededGenerator(seed: 3)
    var queue = DueQueue()
    var slots = SlotTable()
    let timer = TrackedTimer(due: 0, period: 1000, flags: [], action: .block { _ in })
    for index in 0..<20_000 {
      guard let slot = slots.take(Unmanaged.passUnretained(timer), set: 0) else { return #expect(Bool(false)) }
      let key = DueKey.make(sequence: UInt64(index + 1), slot: slot)
      slots.setKey(key)
      queue.push(DueEntry(due: dates.due(index, now: 0, &random), key: key))
      if index < 10 { continue }
      slots.free(slot)
      queue.noteDead(slots)
      #expect(queue.count < 2000)
    }
    #expect(slots.used == 10)
    queue.deallocate()
  }

  @Test func sortingByDigitsIsSorting() {
    var random = SeededGenerator(seed: 11)
    let spans: [ClosedRange<Int64>] = [0...0, 0...3, -500...500, 0...1_000_000_000, .min ... .max]
    for span in spans {
      for count in [0, 1, 2, 511, 512, 5000] {
        let entries = (0..<count).map { _ in
          DueEntry(due: Int64.random(in: span, using: &random), key: UInt64.random(in: 1...9, using: &random))
        }
        var sorted = entries
        sorted.withUnsafeMutableBufferPointer { DueSort.sort($0) }
        let expected = entries.sorted { $0 < $1 }
        #expect(zip(sorted, expected).allSatisfy { $0.due == $1.due && $0.key == $1.key })
      }
    }
  }
}
