import Foundation
import Testing

@testable import UndeadReport

/// From the events of a log to the text and JSON of a report.
@Suite struct ZombieReportTests {
  private func report(_ inputs: ZombieInput...) -> LeakReport {
    LeakReport(findings: ZombieFindings(inputs))
  }

  private func message(_ change: (inout ZombieLog.Event) -> Void) -> String {
    var event = ZombieLogSample.message()
    change(&event)
    return report(ZombieLogSample.input([event])).zombies.first?.message ?? ""
  }

  @Test func text() {
    let report = report(ZombieLogSample.input([ZombieLogSample.message()]) { $0.flags = 3 })
    #expect(
      TextRenderer.render(report) == """
        zombie: Poller.tick() sent to freed App.Poller 0x7f001230 (freed 12 ms ago on thread "worker")

          used       in App.Loop.poll(_:) at /app/App.swift:25, thread main
            #0  App.Loop.poll(_:) at /app/App.swift:25
            #1  main at /app/App.swift:30

          freed      in App.Owner.close() at /app/App.swift:17, thread worker
            #0  App.Owner.close() at /app/App.swift:17
            #1  App.run() at /app/App.swift:21

          allocated  in App.makePoller() at /app/App.swift:12
            #0  App.makePoller() at /app/App.swift:12
            #1  App.run() at /app/App.swift:21
            #2  main at /app/App.swift:30

          advice     the reference does not keep the object in memory (`unowned(unsafe)`, `Unmanaged`, or a release too
                     many before): hold the Poller strongly or `weak` where it is used

        undead: no leaks, 1 zombie

        """)
  }

  @Test func json() throws {
    let report = report(ZombieLogSample.input([ZombieLogSample.message()]))
    let data = try JSONRenderer.render(report)
    let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let zombie = try #require((object["zombies"] as? [[String: Any]])?.first)
    #expect(
      Set(zombie.keys) == [
        "kind", "type", "message", "address", "thread", "count", "signature", "member", "deallocationThread",
        "ageMilliseconds", "advice", "allocation", "deallocation", "access",
      ])
    #expect(zombie["ageMilliseconds"] as? Double == 12.4)
    #expect(try JSONRenderer.parse(data) == report)
    #expect(report.fails())
    #expect(report.summary.zombies == 1)
  }

  @Test func reportsOfTheFirstSchemaAreRead() throws {
    let old = """
      {"kind": "retain", "type": "App.A", "message": "m", "address": "0x1", "thread": "main", "count": 2,
       "allocation": {"frames": []}, "deallocation": {"frames": []}, "access": {"frames": []}}
      """
    let zombie = try JSONDecoder().decode(Zombie.self, from: Data(old.utf8))
    #expect(zombie.count == 2)
    #expect(zombie.signature.isEmpty)
  }

  @Test func sentences() {
    let death = " (freed 12 ms ago on thread \"worker\")"
    let object = "freed App.Poller 0x7f001230"
    #expect(message { $0.kind = 2 } == "release of \(object)\(death)")
    #expect(message { $0.kind = 3 } == "retain of \(object)\(death)")
    #expect(message { ($0.kind, $0.field) = (4, "count") } == "read of Poller.count of \(object)\(death)")
    #expect(
      message { ($0.kind, $0.field, $0.flags) = (4, "count", 1) } == "write to Poller.count of \(object)\(death)")
    #expect(
      message { ($0.kind, $0.implementation, $0.fieldOffset) = (4, 0, 24) }
        == "read of the word at offset 24 of \(object)\(death)")
    #expect(message { $0.kind = 5 } == "unowned reference to \(object) was used\(death)")
    #expect(
      message { ($0.kind, $0.field) = (5, "App.Screen.poller") }
        == "unowned reference Screen.poller to \(object) was used\(death)")
    #expect(message { $0.kind = 6 } == "cast of \(object)\(death)")
    #expect(message { ($0.kind, $0.type) = (7, "closure context") }.hasPrefix("use of freed closure context 0x"))
    #expect(message { $0.kind = 8 } == "Poller.tick() is due for \(object)\(death)")
    #expect(message { $0.implementation = 0 } == "message sent to \(object)\(death)")
    #expect(message { ($0.flags, $0.object) = (2, 0) } == "Poller.tick() sent to the class of freed App.Poller\(death)")
    #expect(message { $0.flags = 2 } == "Poller.tick() sent to the class of \(object)\(death)")
    #expect(
      message { ($0.implementation, $0.accessor) = (0x1700, 2) } == "Model.level (getter) sent to \(object)\(death)")
  }

  @Test func timesAndThreads() {
    #expect(message { $0.deathTime = 0 } == "Poller.tick() sent to freed App.Poller 0x7f001230")
    #expect(message { $0.deathTime = $0.accessTime + 5 }.contains("(freed less than 1 ms ago on"))
    #expect(message { $0.accessTime += 95_000_000_000 }.contains("(freed 1 min 35 s ago on"))
    #expect(message { $0.accessTime += 7_200_000_000_000 }.contains("(freed 2 h ago on"))
    #expect(message { $0.deathThread = $0.thread }.hasSuffix(" on the same thread)"))
    #expect(message { $0.deathThreadName = "App" }.hasSuffix(" on thread 47)"))
    // Threads of libdispatch are called alike.
    let worker = "oot.default-qos"
    #expect(message { $0.deathThreadName = worker }.hasSuffix(" on thread \"worker (default)\")"))
    #expect(
      message { ($0.thread, $0.threadName, $0.deathThreadName) = (48, worker, worker) }
        .hasSuffix(" on thread \"worker (default) 47\")"))
    #expect(message { ($0.thread, $0.deathThread) = (47, 40) }.hasSuffix(" on thread \"main\")"))
  }

  @Test(arguments: [
    ("App.Poller.tick()", "Poller.tick()"), ("static App.Base.limit()", "Base.limit()"),
    ("App.Model.level.modify", "Model.level"), ("vtable thunk for App.A.b(_:)", "A.b(_:)"),
    ("(extension in App):Foundation.Operation.go()", "Operation.go()"),
    ("protocol witness for App.Shape.area() in conformance App.Circle", "Circle.area()"),
    ("App.Cache<Swift.Int, App.Key>.count.getter", "Cache<Swift.Int, App.Key>.count"), ("main", "main"), ("", ""),
    ("closure #1 in App.run()", "closure #1 in App.run()"),
  ])
  func members(symbol: String, member: String) {
    #expect(ZombieMember.method(symbol) == member)
  }

  @Test func namesOfPrivateTypesHoldNoAddress() {
    #expect(
      message { $0.type = "App.(unknown context at $55712e50b770).Poller" }.hasPrefix(
        "Poller.tick() sent to freed App.Poller 0x"))
  }

  @Test func equalUsesAreOneGroup() {
    var other = ZombieLogSample.message()
    (other.object, other.count, other.thread) = (0x7f00_4560, 3, 99)
    var elsewhere = other
    elsewhere.access = [0x1101]
    let groups = report(ZombieLogSample.input([ZombieLogSample.message(), other, elsewhere]))
    #expect(groups.zombies.map(\.count) == [4, 3])
    #expect(Set(groups.zombies.map(\.signature)).count == 2)
    let text = TextRenderer.render(groups)
    #expect(text.contains("on thread \"worker\"), 4 times"))
    let twice = report(ZombieLogSample.input([other]), ZombieLogSample.input([other]))
    #expect(twice.zombies.map(\.count) == [6])
  }

  @Test func notesTellWhatWasNotSeen() {
    let notes = report(
      ZombieLogSample.input([]) {
        $0.counters = [1, 64, 1000, 10, 0, 5, 0, 2, 0, 3, 0, 0, 0, 7, 0, 0, 9, 0]
        $0.flags = 4
      }
    ).summary.notes
    #expect(notes.contains { $0.hasPrefix("15 of 1000 dead objects had to leave the quarantine (10 for its bytes, 5") })
    #expect(notes.contains { $0.hasPrefix("something still held 2 dead objects") })
    #expect(notes.contains { $0.hasPrefix("not kept: 3 objects") })
    #expect(notes.contains { $0.hasPrefix("7 objects got no pages of their own") })
    #expect(notes.contains { $0.hasPrefix("not listed: 9 uses") })
    #expect(notes.contains { $0.contains("-static-stdlib") })
    #expect(notes.contains { $0.contains("--zombie-mode guard sees these too") })
    let guarding = report(ZombieLogSample.input([]) { $0.flags = 2 })
    #expect(guarding.summary.notes.isEmpty)
  }

  @Test(arguments: [
    "zombie:^App.Loop.poll(_:)$", "zombie:Poller.tick", "zombie:App.Owner.close", "zombie:App.swift", "zombie:*",
    "zombie-type:^App.Poller$", "zombie-kind:method",
  ])
  func matchingRulesTakeThemOut(rule: String) throws {
    let findings = ZombieFindings([ZombieLogSample.input([ZombieLogSample.message()]) { $0.flags = 3 }])
    let options = ReportOptions(suppressions: try SuppressionTests.rules(rule + " # fixed in 2.0"))
    var fromFile = LeakReport(findings: findings)
    fromFile.apply(options)
    for report in [LeakReport(findings: findings, options), fromFile] {
      #expect(report.zombies.isEmpty)
      #expect(!report.fails())
      #expect(report.summary.zombies == 0)
      #expect(report.summary.suppressed == 1)
      #expect(report.summary.notes == ["suppressed 1 group by \(rule) (app.supp:1): fixed in 2.0"])
    }
  }

  @Test(arguments: [
    "leak:*", "type:*", "field:*", "module:*", "zombie:App.makePoller", "zombie:^Poller$", "zombie-type:^Poller",
    "zombie-kind:release",
  ])
  func otherRulesLeaveThem(rule: String) throws {
    let findings = ZombieFindings([ZombieLogSample.input([ZombieLogSample.message()])])
    let report = LeakReport(findings: findings, ReportOptions(suppressions: try SuppressionTests.rules(rule)))
    #expect(report.zombies.count == 1)
    #expect(report.summary.notes.contains { $0.hasPrefix("unused suppression \(rule)") })
  }

  @Test func rulesAboutZombiesLeaveLeaks() throws {
    let report = try SuppressionTests.report(Scenario.pair(), "zombie:*\nzombie-type:*\nzombie-kind:*")
    #expect(report.leaks.count == 1)
  }

  @Test func snapshotsKeepThem() throws {
    let findings = ZombieFindings([ZombieLogSample.input([ZombieLogSample.message()]) { $0.flags = 4 }])
    var snapshot = Snapshot(unchecked: LeakReport.Process(path: "/a", arguments: ["a", "-b"], pid: 9, signal: 4))
    snapshot.zombies = findings
    let again = try Snapshot(decoding: snapshot.encoded())
    #expect(again.zombies == findings)
    let report = LeakReport(analyzing: [ReportInput(again), ReportInput(again)])
    #expect(report.zombies.map(\.count) == [2])
    #expect(report.process == LeakReport.Process(path: "/a", arguments: ["a", "-b"], pid: 9, signal: 4))
    #expect(!report.summary.complete)
    for note in findings.notes { #expect(report.summary.notes.filter { $0 == note }.count == 1) }
  }

  @Test func countsOfSnapshotsDoNotOverflow() {
    var snapshot = Snapshot()
    snapshot.zombies = ZombieFindings([ZombieLogSample.input([ZombieLogSample.message()])])
    snapshot.zombies.zombies[0].count = .max
    #expect(LeakReport(analyzing: [ReportInput(snapshot), ReportInput(snapshot)]).zombies.map(\.count) == [.max])
  }

  @Test func framesOfTheObjectsOwnDeinitAreNotWhatLetItGo() {
    let zombie = report(ZombieLogSample.input([ZombieLogSample.message()])).zombies[0]
    #expect(zombie.deallocation.frames.count == 5)
    #expect(zombie.deallocation.firstReleasingFrame?.symbol == "App.Owner.close()")
    let onlyDeinit = Backtrace(frames: [Frame(symbol: "App.Poller.deinit", module: "App")])
    #expect(onlyDeinit.firstReleasingFrame?.symbol == "App.Poller.deinit")
  }
}
