import Foundation
import Testing

@testable import UndeadTool

/// When a heap is written because memory gets short, with a tree of files in place of the kernel's.
@Suite(.timeLimit(.minutes(20))) struct MemoryWatchTests {
  private let sandbox: Sandbox
  private let own = getpid()
  private static let second: UInt64 = 1_000_000_000

  init() throws { sandbox = try Sandbox() }

  private func write(_ text: String, _ path: String) throws {
    let file = sandbox.directory.appending(path: path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  private func gauge() -> MemoryGauge { MemoryGauge(pid: own, root: sandbox.directory.path) }

  /// A group of version 2 below one that has a lower limit.
  private func unified(used: UInt64, files: UInt64 = 0, max: String, outer: String = "max") throws {
    try write("30 20 0:26 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw\n", "proc/self/mountinfo")
    try write("0::/pod/shop\n", "proc/\(own)/cgroup")
    try write("\(max)\n", "cg/pod/shop/memory.max")
    try write("max\n", "cg/pod/shop/memory.high")
    try write("\(used)\n", "cg/pod/shop/memory.current")
    try write("anon 1\ninactive_file \(files)\n", "cg/pod/shop/memory.stat")
    try write("\(outer)\n", "cg/pod/memory.max")
    try write("\(used)\n", "cg/pod/memory.current")
    try write("MemTotal: 1000 kB\nMemAvailable: 400 kB\n", "proc/meminfo")
  }

  @Test func readsMarks() throws {
    #expect(try MemoryMark(parsing: "80%") == .share(percent: 80))
    #expect(try MemoryMark(parsing: "1500MB") == .bytes(1500 << 20))
    #expect(try MemoryMark(parsing: "2GiB") == .bytes(2 << 30))
    for wrong in ["", "0%", "100%", "x%", "80", "0MB", "much"] {
      #expect(throws: (any Error).self, "\(wrong)") { try MemoryMark(parsing: wrong) }
    }
  }

  @Test func readsTheUnifiedHierarchy() throws {
    try unified(used: 800, files: 100, max: "1000")
    let use = try #require(gauge().use())
    #expect((use.used, use.limit) == (700, 1000))
    #expect(use.place.hasSuffix("cg/pod/shop"))
    // The one that is fullest ends the process.
    try unified(used: 800, max: "1000", outer: "900")
    #expect(gauge().use()?.limit == 900)
    // memory.high slows it down long before.
    try unified(used: 800, max: "1000")
    try write("850\n", "cg/pod/shop/memory.high")
    #expect(gauge().use()?.limit == 850)
  }

  @Test func readsTheOlderHierarchyInAContainer() throws {
    try write("31 20 0:27 /docker/abc /cg/memory rw - cgroup cgroup rw,memory\n", "proc/self/mountinfo")
    try write("4:memory:/docker/abc\n1:cpu:/docker/abc\n", "proc/\(own)/cgroup")
    try write("2000\n", "cg/memory/memory.limit_in_bytes")
    try write("1500\n", "cg/memory/memory.usage_in_bytes")
    try write("cache 1\ntotal_inactive_file 500\n", "cg/memory/memory.stat")
    let use = try #require(gauge().use())
    #expect((use.used, use.limit) == (1000, 2000))
  }

  @Test func takesTheMachineWithoutALimit() throws {
    try unified(used: 800, max: "max")
    let use = try #require(gauge().use())
    #expect((use.used, use.limit) == (600 * 1024, 1000 * 1024))
    // Version 1 says it with a number.
    try write("31 20 0:27 / /cg1 rw - cgroup cgroup rw,memory\n", "proc/self/mountinfo")
    try write("4:memory:/a\n", "proc/\(own)/cgroup")
    try write("9223372036854771712\n", "cg1/a/memory.limit_in_bytes")
    try write("5\n", "cg1/a/memory.usage_in_bytes")
    #expect(gauge().use()?.place == "this machine")
    try write("what is this\n", "proc/self/mountinfo")
    #expect(gauge().use()?.place == "this machine")
  }

  private let limit: UInt64 = 1 << 40

  private func watch(_ mark: MemoryMark, every: UInt64 = 60) -> MemoryWatch {
    MemoryWatch(mark: mark, every: every * Self.second, gauge: gauge(), now: 0)
  }

  private func isTaken(_ decision: MemoryWatch.Decision) -> Bool {
    if case .take = decision { true } else { false }
  }

  @Test func takesOneAtTheMarkAndAgainAfterAWhile() throws {
    try unified(used: limit / 2, max: "\(limit)")
    var watch = watch(.share(percent: 80))
    #expect(watch.look(now: 0) == .nothing)
    try unified(used: limit / 100 * 85, max: "\(limit)")
    #expect(isTaken(watch.look(now: 1 * Self.second)))
    #expect(watch.look(now: 2 * Self.second) == .nothing)
    #expect(watch.look(now: 60 * Self.second) == .nothing)
    #expect(isTaken(watch.look(now: 61 * Self.second)))
    // It could not be written: not only after another minute.
    watch.retry(now: 62 * Self.second)
    #expect(watch.look(now: 71 * Self.second) == .nothing)
    #expect(isTaken(watch.look(now: 72 * Self.second)))
    try unified(used: limit / 2, max: "\(limit)")
    #expect(watch.look(now: 200 * Self.second) == .nothing)
  }

  /// The copy of the process must not be what ends it.
  @Test func refusesWithoutRoom() throws {
    let used: UInt64 = 100 << 20
    try unified(used: used, max: "\(used + (10 << 20))")
    var full = watch(.share(percent: 80))
    guard case .refuse(let reason) = full.look(now: 0) else {
      Issue.record("a heap is taken without room for it")
      return
    }
    #expect(reason.contains("10 MiB are left") && reason.contains("give a lower mark"))
    #expect(MemoryWatch.room(for: 800 << 20) > MemoryWatch.room(for: 100 << 20))
    try unified(used: used, max: "\(used + (60 << 20))")
    var group = watch(.share(percent: 50))
    var alone = group
    #expect(isTaken(alone.look(now: 0)))
    // Who passes the limit takes all others along.
    try write("1\n", "cg/pod/shop/memory.oom.group")
    #expect(!isTaken(group.look(now: 0)))
  }

  @Test func looksOftenWhereItRisesFast() throws {
    try unified(used: limit / 10, max: "\(limit)")
    var watch = watch(.share(percent: 80))
    _ = watch.look(now: 0)
    #expect(watch.nextLook == MemoryWatch.calm)
    try unified(used: limit / 100 * 70, max: "\(limit)")
    _ = watch.look(now: Self.second)
    // From 10 % to 70 % in a second: 80 % is a sixth of a second away.
    let wait = watch.nextLook - Self.second
    #expect(wait >= MemoryWatch.hurry && wait < Self.second / 6)
    _ = watch.look(now: 2 * Self.second)
    #expect(watch.nextLook == 2 * Self.second + MemoryWatch.calm)
  }

  @Test func measuresTheProgramAgainstASize() throws {
    try unified(used: 1, max: "max")
    try write("MemTotal: 100000000 kB\nMemAvailable: 90000000 kB\n", "proc/meminfo")
    var small = watch(.bytes(1 << 20))
    var large = watch(.bytes(1 << 40))
    #expect(isTaken(small.look(now: 0)))
    #expect(large.look(now: 0) == .nothing)
  }
}
