import Foundation
import Testing

/// A sample of the objects has pages of its own, and nothing is done to the others.
@Suite(.serialized, .timeLimit(.minutes(20))) struct SampledZombieTests {
  static func run(_ ways: String..., oneIn rate: Int = 1, settings: [String: String] = [:]) throws
    -> ZombieProgram.Run
  {
    let sampled = ["UNDEAD_ZOMBIES": "sampled", "UNDEAD_ZOMBIE_RATE": "\(rate)"]
    return try ZombieProgram.run(.release, ways, settings: sampled.merging(settings) { $1 })
  }

  static let uses: [(way: String, kind: String, type: String, field: String)] = [
    ("read", "field", "App.Point", "y"), ("weakly", "field", "App.Point", "y"), ("write", "field", "App.Point", "x"),
    ("method", "method", "App.Dog", ""),
    ("release", "release", "App.Dog", ""), ("retain", "retain", "App.Dog", ""), ("closure", "closure", "closure", ""),
    // Only where nothing is recorded.
    ("in-front", "overflow", "raw memory", ""),
  ]
  static let storage: [(way: String, kind: String, type: String, field: String)] = [
    ("raw", "field", "raw memory", ""), ("freed-twice", "release", "raw memory", ""),
    ("overflow", "overflow", "raw memory", ""), ("aligned", "field", "raw memory", ""),
    ("before", "field", "raw memory", ""), ("masked-handler", "field", "raw memory", ""),
    ("data", "field", "raw memory", ""),
    ("array-storage", "field", "Swift._ContiguousArrayStorage<Swift.Int>", "element 2"),
    ("large-array", "field", "Swift._ContiguousArrayStorage<Swift.Int>", "element 9000"),
    ("large-dictionary", "retain", "Swift._DictionaryStorage<Swift.Int, Swift.Int>", ""),
    ("large-overflow", "overflow", "raw memory", ""),
    ("error", "release", "App.Refused", ""),
    ("retained-storage", "retain", "Swift._ContiguousArrayStorage<Swift.Int>", ""),
  ]

  @Test(arguments: uses + storage)
  func aUseIsReportedAndTheProgramGoesOn(_ use: (way: String, kind: String, type: String, field: String)) throws {
    let run = try Self.run(use.way)
    #expect(run.exit == 0, "\(run.text)")
    // A closure has a context and boxes, each of which is dead.
    #expect(run.findings.count == 1 || use.kind == "closure")
    let zombie = try #require(run.findings.first)
    #expect(zombie.kind == use.kind)
    #expect(zombie.type == use.type)
    #expect(zombie.field == use.field)
    #expect(zombie.flags & 32 != 0)
    #expect(zombie.allocation.count > 2 && zombie.access.count > 1)
    #expect(use.kind == "overflow" ? zombie.deathTime == 0 : zombie.deathTime > 0 && zombie.deallocation.count > 1)
  }

  /// The runtime ends the program; of an object that was not chosen nobody knows where it was made.
  @Test(arguments: [1, 1 << 30]) func anObjectThatEscapesFromItsDeinitIsReported(_ rate: Int) throws {
    let run = try Self.run("escape", oneIn: rate)
    #expect(run.signal == SIGABRT && run.findings.map(\.kind) == ["escape"], "\(run.text)")
    #expect(run.findings.allSatisfy { $0.type == "App.Ghost" && $0.access.count > 1 })
    #expect(run.findings.allSatisfy { $0.allocation.isEmpty == (rate != 1) })
  }

  @Test func largeBlocksHaveSlotsOfTheirOwn() throws {
    let run = try Self.run("large-blocks")
    #expect(run.exit == 0 && run.text == "4096\n65536\n1048576\n", "\(run.text)")
    #expect(run.findings.map { $0.offset } == [2048, 32768, 1 << 19])
    let reused = try Self.run("large-reused")
    #expect(reused.exit == 0 && reused.findings.isEmpty, "\(reused.text)")
  }

  /// The kernel would fail with EFAULT, and report nothing.
  @Test func aCallOfTheSystemIsAUse() throws {
    let run = try Self.run("calls")
    #expect(
      run.exit == 0 && run.text.hasPrefix("[8, 8, 8, 8, 8, 8, -1, 9, 16, 8, 8, 0, -1, -1, -1, -1, 8, 8, 8]"),
      "\(run.text)")
    #expect(run.findings.map { $0.flags & 1 } == [0, 1, 0, 1, 0, 1, 0, 0, 1, 0])
  }

  @Test func aBlockThatIsResizedByCKeepsItsContent() throws {
    let run = try Self.run("resized")
    #expect(run.exit == 0 && run.text.hasPrefix("7") && run.findings.isEmpty, "\(run.text)")
  }

  @Test(arguments: [[:], ["UNDEAD_SAMPLE": "64KiB"], ["UNDEAD_STACKS": "none"], ["UNDEAD_ZOMBIES": "1"]])
  func whoAsksForTheSizeOfABlockOfPagesReadsInFrontOfIt(_ settings: [String: String]) throws {
    let run = try Self.run("pages", settings: settings)
    #expect(run.exit == 0 && run.text.hasPrefix("7") && run.findings.isEmpty, "\(run.text)")
  }

  @Test func theMethodIsNamedByTheCodeBehindTheLoadOfTheClass() throws {
    let zombie = try #require(Self.run("method").findings.first)
    #expect(zombie.implementation != 0)
  }

  @Test(arguments: [[:], ["UNDEAD_SAMPLE": "64KiB"], ["UNDEAD_STACKS": "full"], ["UNDEAD_STACKS": "none"]])
  func itIsTheSameBesideEachWayToRecord(_ settings: [String: String]) throws {
    let run = try Self.run("read", "raw", "array-storage", "method", settings: settings)
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.findings.map(\.kind).sorted() == ["field", "field", "field", "method"])
  }

  @Test func theProgramEndsThereIfThatIsThePolicy() throws {
    let run = try Self.run("read", settings: ["UNDEAD_ZOMBIE_POLICY": "trap"])
    #expect(run.signal == SIGSEGV)
    #expect(run.logs.first?.lastSignal == UInt32(SIGSEGV))
  }

  /// Within six standard deviations: the test fails by chance once in 500 million times.
  @Test(arguments: [10, 100, 1000]) func eachObjectIsChosenWithTheSameChance(_ rate: Int) throws {
    let run = try Self.run("chosen", oneIn: rate)
    let chosen = try #require(Double(run.text.split(separator: "\n").first ?? ""))
    let objects = 100_000.0
    let expected = objects / Double(rate)
    // The start of the program allocates, too, which is a thousandth of that.
    #expect(abs(chosen - expected) < 6 * expected.squareRoot() + expected / 100)
  }

  /// What a program makes and frees in the same order stays side by side.
  @Test func whatIsNotChosenLiesWhereItWouldWithoutASample() throws {
    for _ in 0..<10 {
      let run = try Self.run("places", oneIn: 10)
      #expect(run.exit == 0 && run.text == "0\n", "\(run.text)")
    }
  }

  @Test func afterTheFirstUseAllThatAreMadeAtItsPlaceAreWatched() throws {
    let run = try Self.run("again", oneIn: 10)
    #expect(run.findings.count == 1)
    #expect(try #require(run.findings.first).count >= 9_000)
  }

  @Test func typesCanBeNamed() throws {
    let run = try Self.run("read", "raw", oneIn: 1 << 30, settings: ["UNDEAD_ZOMBIE_TYPES": "App.Point"])
    #expect(run.findings.map(\.type) == ["App.Point"])
  }

  @Test(arguments: ["race", "order"]) func aUseThatNothingPutsInOrderIsARace(_ way: String) throws {
    let run = try Self.run(way)
    #expect(run.findings.map { $0.flags & 64 != 0 } == [way == "race"])
  }

  @Test func handlersOfTheProgramAreCalledForItsOwnFaults() throws {
    #expect(try Self.run("own-fault").exit == 43)
    let run = try Self.run("own-handler")
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.findings.count == 1)
  }

  @Test func forkedChildrenHaveThePoolForThemselves() throws {
    let run = try Self.run("fork")
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.findings.count == 1)
  }

  /// Each draws for itself: those of a server that forks its workers would all watch the same objects. By chance all eight do
  /// once in 10^16 times.
  @Test func forkedSiblingsChooseDifferentObjects() throws {
    let run = try Self.run("siblings", oneIn: 1000)
    #expect(run.exit == 0 && run.text.hasPrefix("true"), "\(run.text)")
  }

  /// A server has caches and connections that live for weeks: they leave pages for others.
  @Test func whatLivesLongLeavesPagesForTheDead() throws {
    let run = try Self.run("long-lived", "read", settings: ["UNDEAD_ZOMBIE_COUNT": "64"])
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.findings.count == 1)
  }

  /// All pages are taken, or the process may map hardly anything.
  @Test(arguments: [["UNDEAD_ZOMBIE_COUNT": "2"], ["UNDEAD_ZOMBIE_COUNT": "1"]])
  func aFullPoolIsNoHarm(_ settings: [String: String]) throws {
    let run = try Self.run("threads", settings: settings)
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.findings.isEmpty)
  }

  /// A filter of system calls, a limit of memory, a small stack for signals, threads by the thousand: the program does what it
  /// does without, and a use is reported where that is still possible.
  @Test(
    arguments: [
      "no-mprotect", "no-memory", "small-stack", "thousands", "few-mappings", "small-data", "write-barrier",
      "signals-blocked",
    ], ["sampled", "guard", "1"])
  func whatTheSystemRefusesIsNoHarm(_ way: String, _ mode: String) throws {
    let run = try Self.run(way, settings: ["UNDEAD_ZOMBIES": mode, "UNDEAD_ZOMBIE_POLICY": "report"])
    #expect(run.exit == 0, "\(run.text)")
    if way == "small-stack", mode == "sampled" {
      #expect(run.findings.map(\.type).sorted() == ["App.Point", "raw memory"])
    }
  }

  @Test func aStaticRuntimeIsRefusedWithAReason() throws {
    let run = try ZombieProgram.run(.staticRuntime, "method", settings: ["UNDEAD_ZOMBIES": "sampled"])
    #expect(run.exit == 0 || run.signal != nil)
    #expect(run.findings.isEmpty)
  }
}
