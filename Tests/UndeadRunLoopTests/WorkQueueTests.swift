import Testing

@testable import UndeadRunLoop

private final class Called {
  var number = -1
}

/// The queue where the macros of tests may reach it.
private final class Queue {
  private var queue = WorkQueue()
  private let common = [ModeTable.defaultMode, ModeTable.trackingMode]

  var next: UInt64 { queue.nextNumber }
  var laneCount: Int { queue.laneCount }

  func append(_ item: WorkQueue.Item, modes: [Int32]) { queue.append(item, modes: modes) }
  func append(_ item: WorkQueue.Item, mode: Int32) { queue.append(item, mode: mode) }
  func append(_ item: WorkQueue.Item, of performer: WorkQueue.Performer) {
    queue.append(item, of: performer, modes: [0])
  }
  func take(mode: Int32, alsoCommon: [Int32] = [], before limit: UInt64 = .max) -> WorkQueue.Item? {
    queue.take(mode: mode, commonModes: common + alsoCommon, before: limit)
  }
  func hasWork(mode: Int32, alsoCommon: [Int32] = []) -> Bool {
    queue.hasWork(mode: mode, commonModes: common + alsoCommon)
  }
  func removeAll() -> [WorkQueue.Item] { queue.removeAll() }
}

@Suite(.timeLimit(.minutes(20))) struct WorkQueueTests {
  private func number(of item: WorkQueue.Item?) -> Int? {
    guard case .block(let block, _) = item else { return nil }
    block()
    return called.number
  }

  /// The number of the block that was called last.
  private let called = Called()

  private func block(_ number: Int) -> WorkQueue.Item { .block({ [called] in called.number = number }, nil) }

  @Test func lanesKeepTheOrderAmongEachOther() {
    let queue = Queue()
    let sets: [[Int32]] = [[0], [1], [0, 2], [7], [2, 0], [1, 7]]
    for number in 0..<60 { queue.append(block(number), modes: sets[number % sets.count]) }
    let limit = queue.next
    queue.append(block(60), mode: 0)
    var seen: [Int] = []
    while let next = number(of: queue.take(mode: 0, before: limit)) { seen.append(next) }
    #expect(seen == (0..<60).filter { $0 % 6 != 3 })
    #expect(queue.hasWork(mode: 0))
    #expect(number(of: queue.take(mode: 0)) == 60)
    #expect(!queue.hasWork(mode: 0))
    #expect(queue.hasWork(mode: 7))
    #expect(queue.removeAll().map { number(of: $0) } == (0..<60).filter { $0 % 6 == 3 })
  }

  @Test func aModeThatBecomesCommonRunsWhatWaitsInCommon() {
    let queue = Queue()
    queue.append(block(1), mode: ModeTable.commonMode)
    #expect(!queue.hasWork(mode: 9))
    #expect(queue.hasWork(mode: 9, alsoCommon: [9]))
    #expect(number(of: queue.take(mode: 9, alsoCommon: [9])) == 1)
  }

  @Test func ringsGrowShrinkAndKeepTheirOrder() {
    var ring = Fifo<Int>()
    func first() -> Int? { ring.first?.pointee }
    func leave() -> Int? { ring.removeFirst() }
    var (next, expected) = (0, 0)
    for round in 1...200 {
      for _ in 0..<round {
        ring.append(next)
        next += 1
      }
      for _ in 0..<(round - 1) {
        #expect(first() == expected)
        #expect(leave() == expected)
        expected += 1
      }
    }
    #expect(ring.count == 200)
    let left = ring.removeAll()
    #expect(left == Array(expected..<next))
    #expect(ring.isEmpty && ring.first == nil)
    #expect(leave() == nil)
  }

  @Test func manyPerformersLeaveInTheirOrder() {
    let queue = Queue()
    let count = 2000
    for number in 0..<count {
      let performer = WorkQueue.Performer(target: 1, name: "", order: -(number % 7))
      queue.append(block(number), of: performer)
    }
    let expected = (0..<count).sorted { (-($0 % 7), $0) < (-($1 % 7), $1) }
    var seen: [Int] = []
    while let next = number(of: queue.take(mode: 0)) { seen.append(next) }
    #expect(seen == expected)
  }

  @Test func setsOfModesComeAndGo() {
    let queue = Queue()
    for mode in Int32(100)..<5000 {
      queue.append(block(1), mode: mode)
      #expect(queue.take(mode: mode) != nil)
    }
    #expect(queue.laneCount <= 1)
  }

  /// One block whose mode never runs must neither slow down the others nor keep memory for each of them.
  @Test func aBlockForAModeThatNeverRunsCostsTheOthersNothing() {
    let loop = TrackedRunLoop(clock: VirtualClock())
    let ran = Counter()
    loop.perform(inModes: [.init("never")]) {}
    let count = 20_000
    for _ in 0..<count {
      loop.perform { ran.up() }
      loop.run(for: .zero)
    }
    #expect(ran.count == count)
    loop.core.withLock { #expect(loop.core.state.pointee.work.capacity <= 16) }
  }
}
