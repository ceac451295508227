import Testing

@testable import UndeadRunLoop

/// The queue of due dates against a sorted list.
@Suite(.timeLimit(.minutes(20))) struct DueHeapTests {
  private final class Model {
    var heap = DueHeap()
    var slots = SlotTable()
    var live: [(due: Int64, key: UInt64)] = []
    var sequence: UInt64 = 1

    deinit { heap.deallocate() }

    func push(due: Int64) throws {
      let taken = slots.take()
      let slot = try #require(taken)
      let key = DueKey.make(sequence: sequence, slot: slot)
      sequence += 1
      slots[slot].key = key
      heap.push(DueEntry(due: due, key: key))
      live.append((due, key))
    }

    func kill(_ index: Int) {
      let key = live.remove(at: index).key
      slots.free(Int32(DueKey.slot(key)))
      heap.noteDead(slots)
    }

    func popBoth() -> Bool {
      heap.clean(slots)
      live.sort { ($0.due, $0.key) < ($1.due, $1.key) }
      guard let top = heap.top else { return live.isEmpty }
      heap.popTop()
      slots.free(Int32(DueKey.slot(top.key)))
      let expected = live.isEmpty ? nil : live.removeFirst()
      return expected?.due == top.due && expected?.key == top.key
    }

    func popAll() -> Bool {
      while heap.count > 0 || !live.isEmpty { if !popBoth() { return false } }
      return true
    }
  }

  /// How the dates of a test follow one another.
  enum Dates: CaseIterable {
    case ascending, equal, descending, random, mostlyAscending

    func due(_ index: Int, _ random: inout SystemRandomNumberGenerator) -> Int64 {
      switch self {
      case .ascending: Int64(index)
      case .equal: 7
      case .descending: Int64(-index)
      case .random: Int64.random(in: -1000...1000, using: &random)
      case .mostlyAscending: Int64(index) - (index % 7 == 0 ? Int64.random(in: 0...50, using: &random) : 0)
      }
    }
  }

  @Test(arguments: Dates.allCases)
  func theEarliestComesFirstAndOfEqualOnesTheOldest(dates: Dates) throws {
    var random = SystemRandomNumberGenerator()
    let model = Model()
    for index in 0..<1500 {
      try model.push(due: dates.due(index, &random))
      if index % 3 == 0 { #expect(model.popBoth()) }
      if index % 5 == 0, !model.live.isEmpty { model.kill(Int.random(in: 0..<model.live.count, using: &random)) }
    }
    #expect(model.popAll())
  }

  @Test(arguments: Dates.allCases)
  func deadEntriesDoNotPileUp(dates: Dates) throws {
    var random = SystemRandomNumberGenerator()
    let model = Model()
    for index in 0..<10 { try model.push(due: dates.due(index, &random)) }
    for index in 10..<20_000 {
      try model.push(due: dates.due(index, &random))
      model.kill(model.live.count - 1)
      #expect(model.heap.count < 2000)
    }
    #expect(model.live.count == 10)
    #expect(model.popAll())
  }

  @Test func rewritingKeepsBothPartsInOrder() throws {
    let model = Model()
    for due in [5, 6, 7, 1, 3, 8, 2] { try model.push(due: Int64(due)) }
    model.heap.rewrite { DueEntry(due: $0.due * 10, key: $0.key) }
    model.live = model.live.map { ($0.due * 10, $0.key) }
    #expect(model.popAll())
  }
}
