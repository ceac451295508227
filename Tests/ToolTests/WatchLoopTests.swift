import Testing
import UndeadHeap

@testable import UndeadTool

/// How a watch goes on, by a clock that takes no time.
@Suite struct WatchLoopTests {
  /// A program whose objects grow by one a second.
  private final class World: WatchedWorld {
    var now = 100.0
    /// Seconds that a census takes.
    var cost = 0.01
    /// When it ends, and why.
    var end: (time: Double, reason: WatchEnd)?
    /// True where a census cannot be had, given the seconds since the start.
    var fails: (Double) -> Bool = { _ in false }
    var failure = ToolError.failure("it is busy")
    var times: [Double] = []
    var shown: [String] = []

    func wait(until time: Double) -> WatchEnd? {
      if let end, max(time, now) >= end.time {
        now = max(now, end.time)
        return end.reason
      }
      now = max(now, time)
      return nil
    }

    func census() throws(ToolError) -> TypeCounts {
      defer { now += cost }
      if fails(now - 100) { throw failure }
      times.append(now - 100)
      return TypeCounts(["App.A": .init(count: now.rounded(), bytes: now.rounded() * 16)])
    }

    func show(_ text: String) { shown.append(text) }
  }

  @Test func takesACensusAtTheStartAndThenEverySoOften() throws {
    let world = World()
    let (series, end) = try WatchLoop(every: 2, duration: 10).run(world)
    #expect(end == .time)
    #expect(world.times == [0, 2, 4, 6, 8, 10])
    #expect(series.times == world.times)
    #expect(world.shown.last == "watching for 10 s of 10 s: 110 blocks, 1.7 KB")
  }

  @Test func censusesThatTakeLongAreNotMadeUpFor() throws {
    let world = World()
    world.cost = 3
    _ = try WatchLoop(every: 1, duration: 10).run(world)
    #expect(world.times == [0, 3, 6, 9])
  }

  @Test(arguments: [WatchEnd.programEnded, .interrupted]) func endsEarly(_ reason: WatchEnd) throws {
    let world = World()
    world.end = (103.5, reason)
    let (series, end) = try WatchLoop(every: 1, duration: nil).run(world)
    #expect(end == reason)
    #expect(series.times == [0, 1, 2, 3])
  }

  @Test func aProgramMayBeBusyForAWhile() throws {
    let world = World()
    world.fails = { $0 < 4 || (7..<9).contains($0) }
    let (series, _) = try WatchLoop(every: 1, duration: 12).run(world)
    #expect(series.times == [4, 5, 6, 9, 10, 11, 12])
  }

  @Test func givesUpWhereNothingCanBeHad() {
    let world = World()
    world.fails = { $0 > 2 }
    #expect(throws: ToolError.failure("it is busy")) { try WatchLoop(every: 1, duration: nil).run(world) }
    #expect(world.now >= 112 && world.now < 116)
  }

  @Test func saysWhyNothingWasSeen() {
    let world = World()
    world.fails = { _ in true }
    #expect(throws: ToolError.failure("it is busy")) { try WatchLoop(every: 1, duration: 5).run(world) }
  }

  @Test func whatIsWrongStaysWrong() {
    let world = World()
    world.fails = { _ in true }
    world.failure = .misuse("requests are off")
    #expect(throws: ToolError.misuse("requests are off")) { try WatchLoop(every: 1, duration: nil).run(world) }
    #expect(world.now < 101)
  }

  @Test(
    arguments: [
      ("500ms", 0.5), ("1s", 1), ("1.5s", 1.5), ("10min", 600), ("2m", 120), ("2h", 7200), ("1d", 86400), ("3", 3),
    ]
  )
  func times(_ text: String, _ seconds: Double) throws {
    #expect(try WatchTime.parse(text).seconds == seconds)
  }

  @Test(arguments: ["", "s", "-1s", "0", "1 parsec", "nan", "inf", "1e12h", "1s2"]) func noTimes(_ text: String) {
    #expect(throws: (any Error).self) { try WatchTime.parse(text) }
  }
}
