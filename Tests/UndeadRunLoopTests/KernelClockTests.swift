import CUndeadRunLoop
import Dispatch
import FoundationEssentials
import Glibc
import Testing

@testable import UndeadRunLoop

/// What clocks say of themselves, and what loops make of it.
@Suite(.timeLimit(.minutes(20))) struct KernelClockTests {
  static let real: [RunLoopClock] = [RunLoopClock.monotonic, RunLoopClock.wall, RunLoopClock.boot]

  @Test(arguments: real) func aLoopSleepsByIt(clock: RunLoopClock) throws {
    let loop = TrackedRunLoop(clock: clock)
    let begin = clock.now
    try loop.schedule(after: .milliseconds(3)) { _ in }
    #expect(loop.run(for: nil) == .finished)
    #expect(clock.now - begin >= 3_000_000)
  }

  @Test(arguments: real) func aDrivenLoopFiresByIt(clock: RunLoopClock) throws {
    let loop = TrackedRunLoop(clock: clock)
    let fired = Counter()
    let timer = try loop.schedule(every: .milliseconds(2)) { _ in fired.up() }
    let driver = loop.drive(on: DispatchQueue(label: "driver"))
    #expect(eventually { fired.count >= 3 })
    timer.invalidate()
    driver.cancel()
  }

  @Test(arguments: real) func workEndsTheSleep(clock: RunLoopClock) throws {
    let thread = RunLoopThread(name: "sleeper", clock: clock)
    defer { thread.stop() }
    try thread.loop.schedule(after: .seconds(1000)) { _ in }
    try thread.loop.perform(waitUntilDone: true) {}
    try thread.loop.perform(waitUntilDone: true) {}
  }

  @Test func theBootClockIsTheKernels() throws {
    #expect(RunLoopClock.boot.kernelClock == .boottime)
    let monotonic = RunLoopClock.monotonic.now
    #expect(RunLoopClock.boot.now >= monotonic)
    var time = timespec()
    clock_gettime(CLOCK_BOOTTIME, &time)
    #expect(RunLoopClock.boot.now / 1_000_000_000 - Int64(time.tv_sec) <= 1)
  }

  /// A clock of somebody's own, whose instants are no clock's of the kernel.
  private final class SlowClock: RunLoopClock, @unchecked Sendable {
    override var now: Int64 { RunLoopClock.monotonic.now / 2 }
    override func date(at instant: Int64) -> Date { RunLoopClock.monotonic.date(at: instant * 2) }
    override func instant(at date: Date) -> Int64 { RunLoopClock.monotonic.instant(at: date) / 2 }
    override func wait(until deadline: Int64) -> ClockWait {
      deadline == .max ? .sleep(nanoseconds: -1) : .sleep(nanoseconds: max(0, (deadline - now) * 2))
    }
  }

  @Test func aClockThatTheKernelDoesNotKnowMayDrive() throws {
    let loop = TrackedRunLoop(clock: SlowClock())
    let fired = Counter()
    let timer = try loop.schedule(every: .milliseconds(1)) { _ in fired.up() }
    let driver = loop.drive(on: DispatchQueue(label: "driver"))
    #expect(eventually { fired.count >= 3 })
    timer.invalidate()
    driver.cancel()
  }

  @Test(arguments: [true, false]) func aVirtualClockMayDrive(advancesWhenIdle: Bool) throws {
    let clock = VirtualClock(advancesWhenIdle: advancesWhenIdle)
    let loop = TrackedRunLoop(clock: clock)
    let fired = Counter()
    try loop.schedule(after: .seconds(1000)) { _ in fired.up() }
    let driver = loop.drive(on: DispatchQueue(label: "driver"))
    if !advancesWhenIdle { clock.advance(by: .seconds(1000)) }
    #expect(eventually { fired.count == 1 })
    driver.cancel()
  }

  @Test func aClockThatIsMovedByHandHasNoGap() throws {
    let clock = VirtualClock(advancesWhenIdle: false)
    let thread = RunLoopThread(name: "by hand", clock: clock)
    defer { thread.stop() }
    // Less than the gap away: neither this nor the timer may wait for the other.
    let timer = try thread.loop.schedule(after: .microseconds(100)) { _ in }
    try thread.loop.perform(waitUntilDone: true) {}
    #expect(timer.isValid)
    clock.advance(by: .microseconds(100))
    #expect(eventually { !timer.isValid })
    #expect(clock.gap(150_000) == 0)
    #expect(RunLoopClock.monotonic.gap(150_000) == 150_000)
  }

  @Test func theWatchOfTheWallClockGoesOnAfter2038() throws {
    let descriptor = undead_loop_timer_create(CLOCK_REALTIME)
    defer { close(descriptor) }
    #expect(undead_loop_timer_watch_clock(descriptor) == 0)
    // it_value: (seconds left, nanoseconds)
    let facts = try String(contentsOfFile: "/proc/self/fdinfo/\(descriptor)", encoding: .utf8)
    let value = try #require(facts.split(separator: "\n").first { $0.hasPrefix("it_value") })
    let left = try #require(value.split { !$0.isNumber }.first.flatMap { Int($0) })
    let in2100 = 4_102_444_800 - Int(time(nil))
    #expect(left > in2100)
  }

  // MARK: Dates

  private static let dates: [Date] = [
    Date(timeIntervalSince1970: 0), Date(timeIntervalSince1970: -1.25), Date(timeIntervalSince1970: -2_000_000_000.5),
    Date(timeIntervalSinceReferenceDate: 0.1), Date(timeIntervalSinceReferenceDate: 812_345_678.123_456_7),
    // After what 32 bits can count; the years 2050, 2106 and 2200.
    Date(timeIntervalSince1970: 2_147_483_648.75), Date(timeIntervalSince1970: 2_524_608_000),
    Date(timeIntervalSince1970: 4_294_967_296.5), Date(timeIntervalSince1970: 7_258_118_400),
    .distantFuture, .distantPast,
  ]

  @Test(arguments: [RunLoopClock.wall, VirtualClock(start: Date(timeIntervalSince1970: 1000))] as [RunLoopClock])
  func datesComeBackAsTheyWere(clock: RunLoopClock) {
    for date in Self.dates { #expect(clock.date(at: clock.instant(at: date)) == date) }
  }

  @Test(arguments: [RunLoopClock.monotonic, RunLoopClock.boot] as [RunLoopClock])
  func datesOfAClockSinceTheStartComeBack(clock: RunLoopClock) {
    for date in Self.dates where abs(date.timeIntervalSince1970) < 4e9 || date == .distantFuture || date == .distantPast
    {
      let back = clock.date(at: clock.instant(at: date))
      #expect(back == date || abs(back.timeIntervalSince(date)) < 0.000_001)
    }
    // Many times there and back is still where it was: timers are moved by reading and setting their date.
    var instant = clock.now
    let begin = instant
    for _ in 0..<1000 { instant = clock.instant(at: clock.date(at: instant)) }
    #expect(abs(instant - begin) < 1_000_000)
  }

  @Test(arguments: real + [VirtualClock()]) func whatIsNoDateWasLongAgo(clock: RunLoopClock) {
    #expect(clock.instant(at: Date(timeIntervalSinceReferenceDate: .nan)) == .longAgo)
    #expect(clock.instant(at: Date(timeIntervalSinceReferenceDate: .infinity)) == .max)
    #expect(clock.instant(at: Date(timeIntervalSinceReferenceDate: -.infinity)) == .longAgo)
    #expect(clock.instant(at: .distantFuture) == .max)
    #expect(clock.instant(at: .distantPast) == .longAgo)
    #expect(clock.date(at: .max) == .distantFuture)
    #expect(clock.date(at: .longAgo) == .distantPast)
    #expect(clock.now - clock.instant(at: .distantPast) > 0)
  }

  @Test(arguments: real + [VirtualClock()]) func aTimerPausedWithDistantFutureStaysThere(clock: RunLoopClock) throws {
    let loop = TrackedRunLoop(clock: clock)
    let timer = try loop.schedule(every: .milliseconds(1)) { _ in }
    timer.fireDate = .distantFuture
    #expect(timer.fireDate == .distantFuture)
    #expect(loop.run(for: .milliseconds(2)) == .timedOut)
    #expect(timer.firings == 0)
    #expect(timer.fireDate == .distantFuture)
  }

  @Test func durationsAndNanoseconds() {
    #expect(Instants.nanoseconds(Duration.nanoseconds(-1_500_000_001)) == -1_500_000_001)
    #expect(Instants.duration(-1_500_000_001) == .nanoseconds(-1_500_000_001))
    for tenths in 0..<1000 {
      #expect(Instants.nanoseconds(.seconds(Double(tenths) / 10)) == Int64(tenths) * 100_000_000)
    }
    #expect(Instants.nanoseconds(Duration.seconds(Int64.max)) == .max)
    #expect(Instants.nanoseconds(Duration.seconds(Int64.min)) == .longAgo)
    #expect(throws: RunLoopError.self) { try Instants.nanoseconds(of: Duration.nanoseconds(-1)) }
    #expect(throws: RunLoopError.self) {
      try Instants.nanoseconds(of: Duration(secondsComponent: 0, attosecondsComponent: -1))
    }
    #expect(throws: RunLoopError.self) { try Instants.nanoseconds(of: Duration.seconds(10_000_000_000)) }
    #expect(throws: Never.self) { try Instants.nanoseconds(of: Duration.seconds(9_000_000_000)) }
  }
}
