import Foundation
import Testing

/// Dead objects are kept, and their uses distinguished.
@Suite(.serialized, .timeLimit(.minutes(20))) struct ZombieTests {
  typealias Program = ZombieProgram

  static let trapped: [(way: String, kind: String, type: String)] = [
    ("method", "method", "App.Dog"), ("getter", "method", "App.Animal"), ("class", "method", "App.Dog"),
    ("witness", "method", "App.Dog"), ("unmanaged", "method", "App.Dog"),
    ("generic", "method", "App.Box<Swift.Array<Swift.Int>>"),
    ("pack", "method", "App.Pack<Pack{Swift.Int, Swift.String}>"),
    ("noncopyable", "method", "App.Holder<Swift.Int>"), ("nested", "method", "App.Outer<Swift.Int>.Inner"),
    ("operation", "method", "App.Job"), ("async", "method", "App.Dog"), ("actor", "method", "App.Counter"),
    ("release", "release", "App.Dog"), ("cast", "cast", "App.Dog"), ("closure", "closure", "closure"),
    ("unowned-unsafe", "method", "App.Dog"),
  ]

  @Test(arguments: trapped) func everyUseOfADeadObjectIsNamed(_ expected: (way: String, kind: String, type: String))
    throws
  {
    let run = try Program.run(.debug, expected.way)
    #expect(run.signal == SIGILL, "\(run.text)")
    #expect(run.findings.map(\.kind) == [expected.kind])
    let zombie = try #require(run.findings.first)
    #expect(zombie.type == expected.type)
    for frames in [zombie.allocation, zombie.deallocation, zombie.access] { #expect(frames.count > 2) }
    #expect(zombie.deathTime > 0)
    let log = try #require(run.logs.first)
    #expect(log.lastSignal == UInt32(SIGILL))
    #expect(zombie.access.allSatisfy { frame in log.modules.contains { $0.range.contains(frame) } })
  }

  @Test func theMethodOfTheObjectsOwnClassIsNamed() throws {
    let zombies = try ["method", "getter"].map { try #require(Program.run(.debug, $0).findings.first) }
    #expect(zombies.map(\.accessor) == [0, 2])
    #expect(zombies.allSatisfy { $0.implementation != 0 })
    let async = try #require(Program.run(.debug, "async").findings.first)
    #expect(async.flags & 4 != 0)
    let type = try #require(Program.run(.debug, "class").findings.first)
    #expect(type.flags & 2 != 0 && !type.note.isEmpty)
  }

  @Test func aRetainThatNothingExplainsIsReported() throws {
    let run = try Program.run(.debug, "retain")
    #expect(run.findings.map(\.kind) == ["retain"])
    #expect(run.findings.first?.type == "App.Dog")
  }

  @Test func readingASafeUnownedReferenceKeepsTheRuntimesMessage() throws {
    let run = try Program.run(.debug, "unowned")
    #expect(run.findings.map(\.kind) == ["unowned"])
    #expect(run.signal == SIGABRT || run.signal == SIGTRAP)
    #expect(run.text.contains("unowned reference"))
  }

  @Test func aReferenceOutOfADeadObjectIsAField() throws {
    let run = try Program.run(.debug, "reference-field")
    #expect(run.signal == SIGSEGV)
    #expect(run.findings.map(\.kind) == ["field"])
    #expect(run.findings.first?.field == "friends")
    #expect(run.findings.first?.offset == 24)
  }

  @Test(arguments: [("read", UInt32(16), "y", UInt32(24)), ("write", 17, "x", 16)])
  func guardPagesSeeEveryFieldInOptimisedCode(_ way: String, _ flags: UInt32, _ field: String, _ offset: UInt32)
    throws
  {
    let run = try Program.run(.release, way, settings: ["UNDEAD_ZOMBIES": "guard"])
    #expect(run.signal == SIGSEGV, "\(run.text)")
    #expect(run.findings.map(\.kind) == ["field"])
    #expect(run.findings.first?.flags == flags)
    #expect(run.findings.first?.field == field)
    #expect(run.findings.first?.offset == offset)
    #expect(run.findings.first?.type == "App.Point")
  }

  /// What is no object of the program's: storage of the library, and memory without a class.
  @Test(arguments: SampledZombieTests.storage, ["1", "guard"])
  func storageAndRawMemoryAreWatchedInEachMode(
    _ use: (way: String, kind: String, type: String, field: String), _ zombies: String
  ) throws {
    let run = try Program.run(.release, use.way, settings: ["UNDEAD_ZOMBIES": zombies])
    #expect(run.signal == SIGSEGV, "\(run.text)")
    #expect(run.findings.map(\.kind) == [use.kind])
    let zombie = try #require(run.findings.first)
    #expect(zombie.type == use.type)
    #expect(zombie.flags & 32 == 0)  // this is no sample
    #expect(zombie.allocation.count > 2 && zombie.access.count > 1)
  }

  @Test(arguments: [("method", "1"), ("read", "guard")])
  func theRuntimesBacktraceOfTheCrashStaysAndIsNoUseOfItsOwn(_ way: String, _ zombies: String) throws {
    let run = try Program.run(
      .debug, way, settings: ["UNDEAD_ZOMBIES": zombies, "SWIFT_BACKTRACE": "enable=yes,color=no,interactive=no"])
    #expect(run.text.contains("crashed:"), "\(run.text)")
    #expect(run.text.contains("Programs/Zombies/"))
    #expect(run.findings.map(\.count) == [1])
  }

  @Test func aProgramGoesOnWithWhatTheDeadObjectHeld() throws {
    let run = try Program.run(
      .release, "method", "read", "write", "cast", "unowned-unsafe",
      settings: ["UNDEAD_ZOMBIES": "guard", "UNDEAD_ZOMBIE_POLICY": "report"])
    #expect(run.exit == 0, "\(run.text)")
    #expect(run.text.split(separator: "\n").dropFirst().first == "8")
    #expect(Set(run.findings.map(\.kind)).isSuperset(of: ["method", "field"]))
  }

  @Test func deathsInAStaticRuntimeAreSeenByFree() throws {
    let run = try Program.run(.staticRuntime, "method")
    #expect(run.signal == SIGILL, "\(run.text)")
    #expect(run.findings.map(\.kind) == ["method"])
    #expect(run.findings.first?.type == "App.Dog")
    #expect(run.logs.first.map { $0.flags & 4 } == 4)
  }
}

/// What is kept, for how long, and what becomes of it.
@Suite(.serialized, .timeLimit(.minutes(20))) struct QuarantineTests {
  typealias Program = ZombieProgram
  static let only = ["UNDEAD_ZOMBIE_ALLOW": "App.Animal,App.Box,App.Point"]

  @Test func theOldestGoFirst() throws {
    let run = try Program.run(.debug, "fifo", settings: Self.only)
    #expect(run.text == "---kkk 3\n----kk\n------ 0 false\n")
  }

  /// Their budget of 64 MB is more than the whole program may have; its group lies below the root, as a service of systemd does.
  @Test(arguments: ["1", "guard"]) func theDeadKeepToTheLimitOfTheControlGroup(_ zombies: String) throws {
    guard let group = ControlGroup(bytes: 60 << 20) else { return }
    let run = try ZombieProgram.run(.release, ["many-dead"], settings: ["UNDEAD_ZOMBIES": zombies], in: group)
    #expect(run.exit == 0, "\(run.signal ?? 0)")
  }

  @Test func stoppingFreesEverything() throws {
    let run = try Program.run(.debug, "stop", settings: Self.only)
    #expect(run.text == "false 0 0 true\ntrue\n")
  }

  @Test func listsSpeakForSubclasses() throws {
    #expect(try Program.run(.debug, "lists").text == "true true true true\n")
    let denied = try Program.run(.debug, "lists", settings: ["UNDEAD_ZOMBIE_DENY": "Animal,App.Po*"])
    #expect(denied.text == "false false true false\n")
    let allowed = try Program.run(.debug, "lists", settings: ["UNDEAD_ZOMBIE_ALLOW": "App.Animal, Box"])
    #expect(allowed.text == "true true true false\n")
    let both = try Program.run(
      .debug, "lists", settings: ["UNDEAD_ZOMBIE_ALLOW": "App.*", "UNDEAD_ZOMBIE_DENY": "App.Dog"])
    #expect(both.text == "true false true true\n")
  }

  @Test func weakAndUnownedReferencesMayOutliveTheStay() throws {
    let run = try Program.run(.debug, "references", settings: Self.only)
    #expect(run.text == "true\n1\n")
    #expect(run.exit == 0)
    #expect(run.findings.isEmpty)
  }

  @Test func oldObjectsGoWhenTheNextOneDies() throws {
    #expect(try Program.run(.debug, "age", settings: Self.only).text == "false 1\n")
  }

  @Test func handlersAreCalledAsOftenAsTheyWant() throws {
    let settings = ["UNDEAD_ZOMBIE_POLICY": "report", "UNDEAD_ZOMBIE_ALLOW": "App.Dog"]
    let once = try Program.run(.release, "handler", settings: settings)
    #expect(once.text.contains("1 App.Dog 1\n") && !once.text.contains("1 App.Dog 2\n"))
    #expect(once.text.contains("3 App.Dog 1\n"))
    #expect(once.text.hasSuffix("8 App.Dog 1\ntrue\n8 App.Unknown 1\nfalse\n"))
    #expect(once.findings.contains { $0.kind == "method" && $0.count == 5 })
    let always = try Program.run(
      .release, "handler", settings: settings.merging(["UNDEAD_ZOMBIE_REPEATS": "0"]) { $1 })
    #expect(always.text.contains("1 App.Dog 5\n"))
  }

  @Test func forkedChildrenHaveLogsOfTheirOwn() throws {
    let run = try Program.run(.debug, "fork")
    #expect(run.text == "\(SIGILL)\n")
    #expect(run.exit == 0)
    #expect(run.logs.count == 2)
    #expect(run.findings.map(\.kind) == ["method"])
  }

  @Test func handlersOfTheProgramAreCalledToo() throws {
    let zombie = try Program.run(.debug, "own-handler")
    #expect(zombie.exit == 42)
    #expect(zombie.findings.map(\.kind) == ["field"])
    let other = try Program.run(.debug, "own-fault")
    #expect(other.exit == 43)
    #expect(other.findings.isEmpty)
  }

  @Test(arguments: ["1", "guard"]) func eightThreadsFreeAndEvict(_ zombies: String) throws {
    let run = try Program.run(
      .release, "threads", settings: ["UNDEAD_ZOMBIES": zombies, "UNDEAD_ZOMBIE_BYTES": "1M"])
    #expect(run.text == "false true true 0\n")
    #expect(run.exit == 0 && run.findings.isEmpty)
  }

  @Test(arguments: ["short-threads", "large", "signals", "fork-and-threads", "long-gone-thread"], ["1", "guard"])
  func deathsOnManyThreadsAreCountedAndKeptInTheirOrder(_ way: String, _ zombies: String) throws {
    let bytes = way == "signals" ? "64M" : "16M"
    let settings = ["UNDEAD_ZOMBIES": zombies, "UNDEAD_ZOMBIE_BYTES": bytes, "UNDEAD_ZOMBIE_ALLOW": "App.*"]
    let run = try Program.run(.release, way, settings: settings)
    let expected = ["fork-and-threads": "done\n", "long-gone-thread": "true false true 0 0\n"]
    #expect(run.text == expected[way, default: "true true 0 0\n"])
    #expect(run.exit == 0 && run.findings.isEmpty)
  }

  @Test(arguments: ["1", "guard"]) func eightThreadsSendToTheDead(_ zombies: String) throws {
    let settings = ["UNDEAD_ZOMBIES": zombies, "UNDEAD_ZOMBIE_POLICY": "report", "UNDEAD_ZOMBIE_BYTES": "512M"]
    let run = try Program.run(.release, "threads-and-zombies", settings: settings)
    #expect(run.text == "true true false 0\n")
    #expect(!run.findings.isEmpty && run.findings.allSatisfy { $0.type == "App.Animal" })
  }
}
