import Foundation
import Testing
import UndeadSystem

@testable import UndeadFormats
@testable import UndeadReport

@Suite struct ReportTests {
  @Test func jsonHasTheKeysOfTheContract() throws {
    var heap = Scenario.ownClosure()
    heap.set("exitStatus", "3")
    heap.count("liveBlocks", 7)
    heap.count("scanNanoseconds", 1_234_567)
    let data = try JSONRenderer.render(heap.report())
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    #expect(
      Set(json.keys)
        == [
          "schemaVersion", "tool", "process", "summary", "culprits", "leaks", "suspects", "knownLeaks", "zombies",
          "diagnostics",
        ])
    #expect(json["schemaVersion"] as? Int == 1)
    let process = try #require(json["process"] as? [String: Any])
    #expect(process["path"] as? String == "/app/App")
    #expect(process["arguments"] as? [String] == ["App"])
    #expect(process["pid"] as? Int == 42)
    #expect(process["exitStatus"] as? Int == 3)
    #expect(process["startedAt"] as? String == "2023-11-14T22:13:20.500Z")
    #expect(process["durationSeconds"] as? Double == 1.25)
    let summary = try #require(json["summary"] as? [String: Any])
    #expect(
      Set(summary.keys) == [
        "leaks", "leakedObjects", "leakedBytes", "suspects", "zombies", "diagnostics", "suppressed", "liveBlocks",
        "liveBytes", "pauseMilliseconds", "scanMilliseconds", "complete", "notes",
      ])
    #expect(summary["scanMilliseconds"] as? Double == 1.234)
    let leak = try #require((json["leaks"] as? [[String: Any]])?.first)
    #expect(
      Set(leak.keys) == [
        "signature", "kind", "count", "objectCount", "totalBytes", "objects", "cycle", "alsoLeaked", "allocation",
        "advice",
      ])
    let edge = try #require((leak["cycle"] as? [[String: Any]])?.first)
    #expect(edge["type"] as? String == "App.Player")
    #expect(edge["field"] as? String == "onEnd")
    #expect(edge["fieldType"] as? String == "() -> ()")
    #expect(edge["captures"] as? String == "self")
    let closure = try #require(edge["closure"] as? [String: Any])
    #expect(closure["symbol"] as? String == "closure #1 in App.Player.start()")
    #expect(closure["line"] as? Int == 24)
    let frames = try #require((leak["allocation"] as? [String: Any])?["frames"] as? [[String: Any]])
    #expect(frames.first?["symbol"] as? String == "swift_allocObject")
    #expect(frames.first?["module"] as? String == "libswiftCore.so")
    #expect(frames[2]["file"] as? String == "/app/main.swift")
  }

  @Test(arguments: [Scenario.pair, Scenario.task, Scenario.suspects, Scenario.known, Scenario.shared])
  func jsonIsReadBack(scenario: @Sendable () -> SyntheticHeap) throws {
    let report = try scenario().report()
    let data = try JSONRenderer.render(report)
    #expect(try JSONRenderer.parse(data) == report)
    #expect(try JSONRenderer.render(JSONRenderer.parse(data)) == data)
  }

  @Test func unknownKeysAreIgnored() throws {
    let data = try JSONRenderer.render(Scenario.pair().report())
    var json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    json["later"] = ["key": 1]
    var leaks = try #require(json["leaks"] as? [[String: Any]])
    leaks[0]["kind"] = "kindOfTheFuture"
    leaks[0]["later"] = true
    json["leaks"] = leaks
    let report = try JSONRenderer.parse(JSONSerialization.data(withJSONObject: json))
    #expect(report.leaks[0].kind.rawValue == "kindOfTheFuture")
    #expect(TextRenderer.render(report).contains("kindOfTheFuture App.Owner"))
  }

  @Test func optionalKeysMayBeMissing() throws {
    let text = """
      {"schemaVersion": 1, "tool": {"name": "undead", "version": "9"},
       "process": {"path": "/a", "arguments": [], "pid": 1, "startedAt": "", "durationSeconds": 0},
       "summary": {"complete": true},
       "leaks": [{"signature": "00", "kind": "unreferenced", "count": 2, "totalBytes": 64}]}
      """
    let report = try JSONRenderer.parse(Data(text.utf8))
    #expect(report.leaks[0].objectCount == 2)
    #expect(report.suspects.isEmpty)
    #expect(TextRenderer.render(report).hasPrefix("LEAK 1 of 1  object that nothing refers to, 2 times"))
  }

  @Test(arguments: [
    ("", "not valid JSON"), ("[1]", "not a report of undead: unexpected value"),
    ("{}", "not a report of undead: the key \"schemaVersion\" is missing"),
    ("{\"schemaVersion\": 2}", "the report has schema version 2, this undead reads up to 1"),
    ("{\"schemaVersion\": 1, \"tool\": 3}", "not a report of undead: unexpected value at tool"),
  ])
  func badReportFileIsNamed(text: String, message: String) {
    #expect {
      try JSONRenderer.parse(Data(text.utf8))
    } throws: { error in
      "\(error)".hasPrefix(message)
    }
  }

  @Test func rareGroupsCanBeLeftOut() throws {
    var heap = Scenario.pair()
    _ = heap.object("App.Single")
    let report = try heap.report(ReportOptions(minCount: 2))
    #expect(report.leaks.map(\.count) == [2])
    #expect(report.summary.notes == ["1 group is not shown: fewer than 2 leaks of the kind"])
  }

  @Test func whatFailsARun() throws {
    let leaks = try Scenario.pair().report()
    #expect(leaks.fails())
    #expect(!leaks.fails(on: [.suspects, .known, .zombies, .incomplete]))
    let suspects = try Scenario.suspects().report()
    #expect(!suspects.fails())
    #expect(suspects.fails(on: [.leaks, .suspects]))
    #expect(!(try Scenario.known().report().fails()))
    #expect(try Scenario.known().report().fails(on: [.known]))
    #expect(try Scenario.incomplete().report().fails(on: [.incomplete]))
  }

  @Test func leakOfAForkedChildCountsOnce() throws {
    let parent = Scenario.pair()
    var child = Scenario.pair()
    child.set("pid", "43")
    child.set("forkedFrom", "42")
    _ = child.object("App.ChildOnly", size: 8)
    func count(_ inputs: [SyntheticHeap]) -> [String: Int] {
      let report = LeakReport(analyzing: inputs.map { ReportInput($0.built) })
      return Dictionary(uniqueKeysWithValues: report.leaks.map { ($0.objects[0].type, $0.count) })
    }
    #expect(count([parent, child]) == ["App.Owner": 2, "App.ChildOnly": 1])
    child.set("forkedFrom", "7")
    #expect(count([parent, child]) == ["App.Owner": 4, "App.ChildOnly": 1])
  }

  @Test func childrenAreNamedInTheNotes() throws {
    var child = SyntheticHeap()
    child.set("pid", "43")
    child.set("path", "/bin/worker")
    child.note("a thread escaped")
    let report = LeakReport(analyzing: [ReportInput(SyntheticHeap().built), ReportInput(child.built)])
    #expect(report.summary.notes == ["process 43: a thread escaped", "also checked: worker (pid 43)"])
    #expect(report.process.pid == 42)
  }

  @Test func differenceOfTwoReports() throws {
    var old = Scenario.pair()
    _ = old.object("App.Gone", at: Scenario.site("App.gone()", 1))
    var new = SyntheticHeap(base: 0x5600_0000_0000)
    _ = new.object("App.New", at: Scenario.site("App.new()", 1))
    for _ in 0..<3 {
      let owner = new.object("App.Owner", at: Scenario.site("App.makePair()", 99, "App.Owner"))
      let child = new.object("App.Child")
      new.link(owner, "child", child)
      new.link(child, "owner", owner)
    }
    let diff = ReportDiff(from: try old.report(), to: try new.report())
    #expect(diff.new.map { $0.objects[0].type } == ["App.New"])
    #expect(diff.gone.map { $0.objects[0].type } == ["App.Gone"])
    #expect(diff.grown.map { [$0.oldCount, $0.newCount] } == [[2, 3]])
    #expect(
      DiffRenderer.text(diff) == """
        NEW 1 of 1  App.New that nothing refers to  (1 object, 32 bytes)

          allocated  in App.new() at /app/main.swift:1
          advice     nothing refers to it, yet it was retained: memory that held it was deallocated or overwritten
                     without deinitialize(count:) (UnsafeMutablePointer), or Unmanaged.passRetained has no release(), or
                     C code did not give it back (takeRetainedValue); if its address is in a file, or stored in other
                     bits, LeakDetector.markHeldOutside(_:) says so

          stack of the allocation:
            #0  App.new() at /app/main.swift:1
            #1  main at /app/main.swift:90

        GROWN  retain cycle of App.Owner and App.Child from App.makePair(): 2 -> 3
        GONE   App.Gone that nothing refers to from App.gone(): 1 -> 0

        undead: 1 new, 1 grown, 0 less, 1 gone, 0 unchanged

        """)
    let same = ReportDiff(from: try old.report(), to: try old.report())
    #expect(DiffRenderer.text(same) == "undead: 0 new, 0 grown, 0 less, 0 gone, 2 unchanged\n")
    #expect(diff.fails() && !same.fails(on: Set(FailureCondition.allCases)))
  }

  @Test func differenceOfOtherFindings() throws {
    func report(suspects: Int, zombies: Int, known: Int = 0) -> LeakReport {
      func suspect(_ number: Int) -> Suspect {
        Suspect(
          kind: .timer, signature: "s\(number)", count: suspects, totalBytes: 32,
          objects: [LeakedObject(type: "App.Clock", address: "0x1\(number)", size: 32)])
      }
      let zombie = Zombie(
        kind: "method", type: "App.Poller", message: "App.Poller.tick() was called on a dead App.Poller",
        address: "0x10", thread: "main", count: zombies, signature: "z")
      let leak = Leak(signature: "k", kind: .unreferenced, totalBytes: 16, reason: "the toolchain's")
      return LeakReport(
        leaks: [], suspects: suspects == 0 ? [] : [suspect(1)], knownLeaks: known == 0 ? [] : [leak],
        zombies: zombies == 0 ? [] : [zombie])
    }
    let worse = ReportDiff(from: report(suspects: 0, zombies: 1), to: report(suspects: 2, zombies: 3, known: 1))
    #expect(worse.suspects.new.count == 1 && worse.zombies.grown.map(\.newCount) == [3])
    #expect(worse.fails() && worse.fails(on: [.suspects]))
    #expect(worse.fails(on: [.known]) && !worse.fails(on: [.leaks]))
    let text = DiffRenderer.text(worse)
    #expect(text.contains("NEW SUSPECT 1 of 1  App.Clock held only by a timer that it holds itself, 2 times"))
    #expect(text.contains("GROWN  zombie: App.Poller.tick() was called on a dead App.Poller: 1 -> 3\n"))
    #expect(text.contains("NEW    known object that nothing refers to: 0 -> 1\n"))
    #expect(
      text.hasSuffix("undead: 0 new, 0 grown, 0 less, 0 gone, 0 unchanged, zombies: 1 grown, suspects: 1 new\n"))
    let better = ReportDiff(from: report(suspects: 2, zombies: 3, known: 1), to: report(suspects: 1, zombies: 0))
    #expect(!better.fails(on: Set(FailureCondition.allCases)))
    #expect(
      DiffRenderer.text(better) == """
        GONE   zombie: App.Poller.tick() was called on a dead App.Poller: 3 -> 0
        LESS   suspect App.Clock held only by a timer that it holds itself: 2 -> 1
        GONE   known object that nothing refers to: 1 -> 0

        undead: 0 new, 0 grown, 0 less, 0 gone, 0 unchanged, zombies: 1 gone, suspects: 1 less

        """)
    let few = ReportDiff(
      from: report(suspects: 1, zombies: 0), to: report(suspects: 2, zombies: 0), minCount: 2)
    #expect(few.suspects.grown.map(\.oldCount) == [1], "what had been too few before is more now, not new")
    let none = ReportDiff(from: report(suspects: 0, zombies: 0), to: report(suspects: 1, zombies: 0), minCount: 2)
    #expect(!none.suspects.isWorse)
  }

  @Test func differenceOfIncompleteReports() throws {
    var cut = SyntheticHeap()
    cut.setIncomplete()
    cut.note("a thread escaped")
    let diff = ReportDiff(from: try Scenario.pair().report(), to: try cut.report())
    #expect(!diff.complete && !diff.fails() && diff.fails(on: [.incomplete]))
    #expect(diff.notes.first == "the new report is incomplete: what is gone may be there still")
    #expect(diff.notes.contains("new report: a thread escaped"))
    let text = DiffRenderer.text(diff)
    #expect(text.contains("note: the new report is incomplete"))
    #expect(text.hasSuffix("undead: 0 new, 0 grown, 0 less, 1 gone, 0 unchanged, check incomplete\n"))
  }
}

@Suite struct TextOptionTests {
  @Test func colourIsOnlyThereOnRequest() throws {
    let report = try Scenario.pair().report()
    #expect(!TextRenderer.render(report).contains("\u{1B}"))
    let coloured = TextRenderer.render(report, options: ReportTextOptions(color: true))
    #expect(coloured.contains("\u{1B}[1;31mLEAK 1 of 1\u{1B}[0m"))
    let plain = coloured.replacing(/\u{1B}\[[0-9;]*m/, with: "")
    #expect(plain == TextRenderer.render(report))
  }

  @Test func stacksCanBeLeftOutOrCut() throws {
    let report = try Scenario.pair().report()
    #expect(!TextRenderer.render(report, options: ReportTextOptions(stacks: false)).contains("#0"))
    let short = TextRenderer.render(report, options: ReportTextOptions(depth: 1))
    #expect(short.contains("    #0  App.makePair() at /app/main.swift:12\n    ... 1 more frame\n"))
    let all = TextRenderer.render(report, options: ReportTextOptions(allFrames: true))
    #expect(all.contains("    #0  swift_allocObject (libswiftCore.so)\n    #1  App.Owner.__allocating_init()"))
  }

  @Test func longCyclesAreCutInTheMiddle() throws {
    var heap = SyntheticHeap()
    let nodes = (0..<20).map { heap.object("App.Ring\($0)") }
    for number in nodes.indices { heap.link(nodes[number], "next", nodes[(number + 1) % 20]) }
    let report = try heap.report()
    #expect(report.leaks[0].cycle?.count == 20)
    #expect(TextRenderer.render(report).contains("      ... 8 more references ...\n"))
  }

  @Test func bytesReadWell() {
    for (seconds, text) in [
      (0.0, "0 ms"), (0.0123, "12.3 ms"), (1, "1 s"), (59.9, "59.9 s"), (59.96, "1 min"), (90, "1 min 30 s"),
      (3600, "1 h"), (7530, "2 h 5 min"), (-1, "some time"), (.nan, "some time"),
    ] { #expect(Quantity.duration(seconds) == text) }
    #expect(Quantity.bytes(1) == "1 byte")
    #expect(
      Quantity.bytes(999) == "999 bytes" && Quantity.bytes(1000) == "1.0 KB" && Quantity.bytes(-4144) == "-4.0 KB")
    #expect(Quantity.bytes(10240) == "10.0 KB" && Quantity.bytes(1_048_570) == "1.0 MB")
    #expect(Quantity.bytes(5 << 20) == "5.0 MB")
    #expect(Quantity.bytes(Int.max).hasSuffix(" TB") && Quantity.bytes(Double.nan) == "an unknown size")
  }

  @Test func timestampsAreISO8601() {
    #expect(Timestamp.text(secondsSince1970: "0") == "1970-01-01T00:00:00.000Z")
    #expect(Timestamp.text(secondsSince1970: "951782399.25") == "2000-02-28T23:59:59.250Z")
    #expect(Timestamp.text(secondsSince1970: "951782400") == "2000-02-29T00:00:00.000Z")
    #expect(Timestamp.text(secondsSince1970: "1607295752.487") == "2020-12-06T23:02:32.487Z")
    #expect(Timestamp.text(secondsSince1970: "1769460482.3919") == "2026-01-26T20:48:02.392Z")
    #expect(Timestamp.text(secondsSince1970: "1769460482.9996") == "2026-01-26T20:48:03.000Z")
    #expect(Timestamp.text(secondsSince1970: "-1") == "1969-12-31T23:59:59.000Z")
    #expect(Timestamp.text(secondsSince1970: "nan") == "")
    #expect(Timestamp.text(secondsSince1970: "1e300") == "")
  }
}

@Suite struct SymbolTextTests {
  @Test func enclosingTypeOfAClosure() {
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in App.Owner.start()") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 () -> () in App.Owner.start() -> ()") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #2 in closure #1 in App.Owner.run(on:)") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in App.Owner.init(name:)") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in App.Owner.__allocating_init()") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in App.Owner.handler.getter") == "App.Owner")
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in App.Box<A>.start()") == "App.Box")
    #expect(SymbolText.enclosingType(ofClosure: "App.Owner.start()") == nil)
    #expect(SymbolText.enclosingType(ofClosure: "closure #1 in main") == nil)
  }

  @Test func thunksAreTakenOff() {
    #expect(FunctionName.withoutThunks("partial apply forwarder for closure #1 in App.f()") == "closure #1 in App.f()")
    #expect(FunctionName.withoutThunks("(2) suspend resume partial function for App.f() async") == "App.f() async")
    #expect(
      FunctionName.withoutThunks("generic specialization <(App.A) -> [B]> of Swift.Array.append(_:)")
        == "Swift.Array.append(_:)")
    #expect(FunctionName.withoutThunks("(extension in App):Swift.Int.f()") == "(extension in App):Swift.Int.f()")
  }

  @Test func backReferencesByName() {
    for name in ["delegate", "dataSource", "parent", "_parentNode", "state.owner", "previous"] {
      #expect(FieldName.backRank(name) == 2, "\(name)")
    }
    #expect(FieldName.backRank("router") == 1)
    for name in ["child", "items", "delegates[0]", "resource", "next", ""] {
      #expect(FieldName.backRank(name) == 0, "\(name)")
    }
  }
}
