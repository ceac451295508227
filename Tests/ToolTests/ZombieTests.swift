import Foundation
import Testing
import UndeadReport

@testable import UndeadTool

/// `undead run --zombies`, with a library that plays its part.
@Suite(.timeLimit(.minutes(20))) struct ZombieTests {
  private let sandbox: Sandbox
  private let clean: String
  private let log: String

  init() throws {
    sandbox = try Sandbox()
    try sandbox.installFakeLibrary()
    clean = try sandbox.write(SampleSnapshot.clean(), to: "clean.undead")
    log = sandbox.path("sample.zombies")
    try Self.sampleLog().write(to: URL(filePath: log))
  }

  /// A log with one release of a dead object and no backtraces.
  private static func sampleLog() -> Data {
    var words: [UInt32] = [1, 256, 77, 1, 1, 4]
    let texts = Array("App.Poller\0\0worker\0\0\0".utf8)
    let padding = (8 - texts.count % 8) % 8
    let size = UInt32(88 + texts.count + padding)
    words += [256 + size, 0]
    var data = Data("UNDEADZO".utf8)
    for word in words { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
    data.append(Data(count: 256 - data.count))
    let record: [UInt32] =
      [size, 1, 2, 0, 0, .max, 0x1230, 0] + Array(repeating: 0, count: 6) + [1, 0, 78, 0] + [
        0, 0, 0, UInt32(texts.count),
      ]
    for word in record { withUnsafeBytes(of: word.littleEndian) { data.append(contentsOf: $0) } }
    return data + Data(texts) + Data(count: padding)
  }

  private func run(_ environment: [String: String], _ options: [String], _ command: [String]) throws -> Sandbox.Output {
    try sandbox.command([sandbox.path("bin/undead"), "run"] + options + ["--"] + command, environment: environment)
  }

  @Test func areReportedAndFailTheRun() throws {
    let environment = ["FAKE_SNAPSHOT": clean, "FAKE_ZOMBIES": log]
    let output = try run(environment, ["--zombies"], ["true"])
    #expect(output.status == 23)
    #expect(output.error.contains("zombie: release of freed App.Poller 0x1230\n"))
    #expect(output.error.contains("no leaks, 1 zombie"))
    #expect(try run(environment, ["--zombies", "--fail-on", "leaks"], ["true"]).status == 0)
    #expect(try run(environment, ["--zombies"], ["false"]).status == 1)
    #expect(try run(environment, [], ["true"]).status == 0)
  }

  @Test func areReportedWhereTheProgramDiedOfThem() throws {
    let output = try run(["FAKE_ZOMBIES": log], ["--zombies"], ["sh", "-c", "kill -ILL $$"])
    #expect(output.status == 132)
    #expect(output.error.contains("zombie: release of freed App.Poller 0x1230\n"))
    #expect(output.error.contains("not checked for leaks: the program was ended by SIGILL"))
    let json = try run(["FAKE_ZOMBIES": log], ["--zombies", "--format", "json"], ["sh", "-c", "kill -ILL $$"])
    let report = try #require(try JSONSerialization.jsonObject(with: Data(json.error.utf8)) as? [String: Any])
    #expect((report["process"] as? [String: Any])?["signal"] as? Int == 4)
    #expect((report["zombies"] as? [Any])?.count == 1)
  }

  @Test func areKeptWithTheSnapshot() throws {
    let kept = sandbox.path("kept.undead")
    let both = try run(["FAKE_SNAPSHOT": clean, "FAKE_ZOMBIES": log], ["--zombies", "--save", kept], ["true"])
    #expect(both.status == 23)
    let again = try sandbox.undead("leaks", kept)
    #expect(again.status == 23)
    #expect(again.out == both.error)
    let died = try run(["FAKE_ZOMBIES": log], ["--zombies", "--save", kept], ["sh", "-c", "kill -ILL $$"])
    #expect(died.status == 132)
    let alone = try sandbox.undead("leaks", kept)
    #expect(alone.status == 23)
    #expect(alone.out == died.error)
    #expect(alone.out.contains("not checked for leaks: the program was ended by SIGILL"))
  }

  // MARK: While the program goes on

  /// The program ends when the command has had what was found.
  @Test func areHandedOverWhenTheyHappen() throws {
    let waits = ["sh", "-c", "while ! [ -s done ]; do sleep 0.02; done; exit 7"]
    let command = "cat >> found.json; env | grep UNDEAD_FINDING | sort > facts; echo out; echo x > done; exit 9"
    let output = try run(
      ["FAKE_SNAPSHOT": clean, "FAKE_ZOMBIES": log],
      ["--zombies", "--zombie-policy", "report", "--on-finding", command],
      waits)
    #expect(output.status == 7 && output.out == "")
    #expect(output.error.contains("undead: zombie: release of freed App.Poller 0x1230"))
    #expect(output.error.contains("\nout\n"))
    #expect(output.error.contains("undead: the command of --on-finding ended with 9; this is said once\n"))
    let report = try JSONDecoder().decode(
      LeakReport.self, from: Data(contentsOf: URL(filePath: sandbox.path("found.json"))))
    #expect(report.zombies.count == 1 && report.zombies.first?.type == "App.Poller" && !report.summary.complete)
    #expect(report.process.arguments == waits && !report.process.startedAt.isEmpty)
    let facts = try String(contentsOfFile: sandbox.path("facts"), encoding: .utf8)
    #expect(facts.contains("UNDEAD_FINDING_KIND=zombie\n") && facts.contains("UNDEAD_FINDING_TYPE=App.Poller\n"))
    #expect(facts.contains("UNDEAD_FINDING_SIGNATURE=\(report.zombies.first?.signature ?? "?")\n"))
  }

  @Test(arguments: [["--zombies"], ["--zombies", "--output", "/dev/null"]])
  func theLastOnesAreHandedOverAtTheEnd(_ options: [String]) throws {
    let output = try run(
      ["FAKE_ZOMBIES": log], options + ["--on-finding", "cat >> all"], ["sh", "-c", "kill -ILL $$"])
    #expect(output.status == 132)
    let report = try JSONDecoder().decode(LeakReport.self, from: Data(contentsOf: URL(filePath: sandbox.path("all"))))
    #expect(report.zombies.count == 1)
  }

  @Test func leaksAreAFindingAtTheEnd() throws {
    let leaking = try sandbox.write(SampleSnapshot.leaking(), to: "leaking.undead")
    let command = ["--on-finding", "cat >> all; echo $UNDEAD_FINDING_KIND $UNDEAD_FINDING_TYPE >> kinds"]
    #expect(try run(["FAKE_SNAPSHOT": leaking], command, ["true"]).status == 23)
    #expect(try run(["FAKE_SNAPSHOT": clean], command, ["true"]).status == 0)
    #expect(try run(["FAKE_SNAPSHOT": leaking], ["--fail-on", "none"] + command, ["true"]).status == 0)
    #expect(try String(contentsOfFile: sandbox.path("kinds"), encoding: .utf8) == "leak App.Owner\n")
    let report = try JSONDecoder().decode(LeakReport.self, from: Data(contentsOf: URL(filePath: sandbox.path("all"))))
    #expect(report.leaks.count == 1)
  }

  @Test func areSuppressed() throws {
    let rules = try sandbox.write("zombie-type:^App.Poller$ # to be rewritten\n", to: "rules.supp")
    let environment = ["FAKE_SNAPSHOT": clean, "FAKE_ZOMBIES": log]
    let output = try run(environment, ["--zombies", "--suppressions", rules], ["true"])
    #expect(output.status == 0)
    #expect(output.error.contains("undead: no leaks, 1 suppressed"))
    #expect(output.error.contains("suppressed 1 group by zombie-type:^App.Poller$"))
    let leaks = try sandbox.write("leak:*\ntype:*\n", to: "leaks.supp")
    #expect(try run(environment, ["--zombies", "--suppressions", leaks], ["true"]).status == 23)
    // A program that died of it was not checked for leaks.
    let died = try run(
      ["FAKE_ZOMBIES": log], ["--zombies", "--suppressions", rules, "--format", "json"], ["sh", "-c", "kill -ILL $$"])
    #expect(died.status == 132)
    #expect(died.error.contains("\"complete\" : false"))
  }

  @Test func aDamagedLogIsNoCleanRun() throws {
    let damaged = sandbox.path("damaged.zombies")
    try Self.sampleLog().prefix(300).write(to: URL(filePath: damaged))
    let output = try run(["FAKE_SNAPSHOT": clean, "FAKE_ZOMBIES": damaged], ["--zombies"], ["true"])
    #expect(output.status == 70)
    #expect(output.error.contains("damaged at byte 32"))
  }

  @Test func optionsBecomeTheEnvironmentOfTheProgram() throws {
    func settings(_ options: String...) throws -> String {
      try run(["FAKE_SNAPSHOT": clean], options, ["sh", "-c", "env | grep UNDEAD_ZOMBIE | sort"]).out
    }
    #expect(try settings() == "")
    #expect(try settings("--zombies") == "UNDEAD_ZOMBIES=1\n")
    #expect(try settings("--zombie-mode", "guard") == "UNDEAD_ZOMBIES=guard\n")
    #expect(try settings("--zombies", "--zombie-mode", "keep") == "UNDEAD_ZOMBIES=1\n")
    #expect(try settings("--zombie-guard", "App.*") == "UNDEAD_ZOMBIES=guard\nUNDEAD_ZOMBIE_GUARD=App.*\n")
    let all = try settings(
      "--zombies", "--zombie-policy", "report", "--zombie-bytes", "2MB", "--zombie-count", "10", "--zombie-age", "3s",
      "--zombie-allow", "A,B", "--zombie-deny", "C")
    #expect(
      all == """
        UNDEAD_ZOMBIES=1
        UNDEAD_ZOMBIE_AGE=3000
        UNDEAD_ZOMBIE_ALLOW=A,B
        UNDEAD_ZOMBIE_BYTES=2097152
        UNDEAD_ZOMBIE_COUNT=10
        UNDEAD_ZOMBIE_DENY=C
        UNDEAD_ZOMBIE_POLICY=report

        """)
  }

  @Test func mistakesAreExplained() throws {
    for (options, words) in [
      (["--zombie-count", "3"], "--zombie-count has no effect without --zombies"),
      (["--zombies=guard"], "does not take any value"),
      (["--zombie-mode", "all"], "'all' is invalid"),
      (["--zombie-mode", "keep", "--zombie-guard", "A"], "only one of them"),
      (["--zombies", "--zombie-bytes", "much"], "give a number"),
      (["--on-finding", " "], "give a command"),
      (["--zombies", "--zombie-age", "5"], "give a time with its unit"),
      (["--zombies", "--zombie-bytes", "99999999999GB"], "too much"),
    ] {
      let output = try run([:], options, ["true"])
      #expect(output.status == 64)
      #expect(output.error.contains(words), "\(output.error)")
    }
  }

  @Test func sizesAndTimes() throws {
    #expect(try ZombieOptions.parseSize("123") == 123)
    #expect(try ZombieOptions.parseSize("4kb") == 4096)
    #expect(try ZombieOptions.parseSize("1GB") == 1 << 30)
    #expect(try ZombieOptions.parseTime("250ms") == 250)
    #expect(try ZombieOptions.parseTime("2min") == 120_000)
  }
}
