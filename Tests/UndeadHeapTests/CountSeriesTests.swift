import Testing

@testable import UndeadHeap

@Suite struct CountSeriesTests {
  private typealias Amount = TypeCounts.Amount

  private static func counts(_ numbers: [String: Int]) -> TypeCounts {
    TypeCounts(numbers.mapValues { Amount(count: Double($0), bytes: Double($0) * 10) })
  }

  @Test func typesThatComeAndGoAreNoughtMeanwhile() {
    var series = CountSeries()
    series.add(Self.counts(["A": 1]), at: 0)
    series.add(Self.counts(["A": 2, "B": 5]), at: 1)
    series.add(Self.counts([:]), at: 2)
    series.add(Self.counts(["B": 7]), at: 3)
    #expect(series.names == ["A", "B", TypeCounts.all])
    #expect(series.amounts(of: "A").map(\.count) == [1, 2, 0, 0])
    #expect(series.amounts(of: "B").map(\.bytes) == [0, 50, 0, 70])
    #expect(series.amounts(of: TypeCounts.all).map(\.count) == [1, 7, 0, 7])
    #expect(series.amounts(of: "C").map(\.count) == [0, 0, 0, 0])
    #expect(series.times == [0, 1, 2, 3])
    #expect(series.taken == 4)
  }

  @Test func aLongWatchKeepsTheFloors() {
    var series = CountSeries(limit: 16)
    for second in 0..<1000 {
      series.add(Self.counts(["A": second, "Odd": second % 2 == 1 ? 100 : 0]), at: Double(second))
    }
    #expect(series.times.count <= 16)
    #expect(series.taken == 1000)
    #expect(series.times.sorted() == series.times)
    let floors = series.amounts(of: "A").map(\.count)
    #expect(floors == floors.sorted() && floors[0] == 0)
    #expect(series.amounts(of: "Odd").allSatisfy { $0.count == 0 })
    #expect(series.newest?.amounts["A"]?.count == 999)
  }
}
