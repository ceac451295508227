import Foundation
import Testing

@testable import UndeadFormats
@testable import UndeadReport

/// Logs of SARIF 2.1.0. `scripts/check/formats` validates them by the official schema.
@Suite struct SARIFTests {
  private func frame(_ symbol: String, _ file: String? = nil, _ line: Int? = nil, system: Bool = false) -> Frame {
    Frame(symbol: symbol, file: file, line: line, module: system ? "libswiftCore.so" : "App", system: system)
  }

  private var allocation: Backtrace {
    Backtrace(frames: [
      frame("swift_allocObject", system: true), frame("App.make()", "/re po/Sources/App.swift", 7),
      frame("main", "/elsewhere/main.swift", 3),
    ])
  }

  private var cycle: Leak {
    let closure = frame("closure #1 in App.Owner.start()", "/re po/Sources/Owner.swift", 12)
    return Leak(
      signature: "c1", kind: .retainCycle, count: 3, objectCount: 6, totalBytes: 192,
      objects: [LeakedObject(type: "App.Owner", address: "0x1000", size: 32)],
      cycle: [
        Reference(type: "App.Owner", field: "child"),
        Reference(type: "App.Child", field: "onEvent", fieldType: "() -> ()", closure: closure, captures: "self"),
      ], allocation: allocation, advice: "capture it weakly")
  }

  private var options: ReportTextOptions {
    var options = ReportTextOptions()
    options.directory = "/re po"
    return options
  }

  private func report(_ leaks: [Leak]) -> LeakReport {
    var report = LeakReport(process: .init(path: "/re po/.build/debug/App"), leaks: leaks)
    report.updateCounts()
    return report
  }

  private func json(_ report: LeakReport, _ options: ReportTextOptions? = nil) throws -> JSONValue {
    let data = try SARIFRenderer.render(report, options: options ?? self.options)
    return try JSONDecoder().decode(JSONValue.self, from: data)
  }

  private func text(_ value: JSONValue?) throws -> String {
    String(decoding: try JSONRenderer.encode(value), as: UTF8.self)
  }

  @Test func aLogWithoutFindings() throws {
    let log = try json(report([]))
    #expect(log["version"]?.text == "2.1.0")
    #expect(log["$schema"]?.text?.hasSuffix("/sarif-schema-2.1.0.json") == true)
    let run = try #require(log["runs"]?.elements.first)
    #expect(run["results"] == .array([]), "there, so that readers know that a check was made")
    #expect(run["tool"]?["driver"]?["name"]?.text == "undead")
    #expect(run["originalUriBaseIds"]?["SRCROOT"]?["uri"]?.text == "file:///re%20po/")
    #expect(run["automationDetails"]?["id"]?.text == "undead/App/")
    #expect(run["invocations"]?.elements[0]["executionSuccessful"] == .bool(true))
    let rules = run["tool"]?["driver"]?["rules"]?.elements ?? []
    #expect(
      rules.compactMap { $0["id"]?.text } == [
        "retainCycle", "unreferenced", "abandoned", "zombie", "growth", "taskOfDeadOwner", "timerOfDeadOwner",
        "observerOfDeadOwner", "heldByTimer", "heldByDispatchSource", "heldByObserver", "heldByTask", "heldByRunLoop",
        "heldByThread",
      ])
    for rule in rules {
      for key in ["shortDescription", "fullDescription", "help"] {
        #expect(rule[key]?["text"]?.text?.isEmpty == false)
      }
    }
  }

  @Test func aRetainCycle() throws {
    let result = try #require(try json(report([cycle]))["runs"]?.elements[0]["results"]?.elements.first)
    #expect(result["ruleId"]?.text == "retainCycle" && result["ruleIndex"] == .integer(0))
    #expect(result["level"]?.text == "error" && result["occurrenceCount"] == .integer(3))
    #expect(
      result["message"]?["text"]?.text == """
        retain cycle of App.Owner and App.Child, 3 times (6 objects, 192 bytes)

            App.Owner
              .child → App.Child
              .onEvent → closure #1 in App.Owner.start() at Sources/Owner.swift:12
              ^^^^^^^^
                  captures self → App.Owner  ↺

          allocated  in App.make() at Sources/App.swift:7
          advice     capture it weakly
        """)
    #expect(
      try text(result["locations"]) == """
        [
          {
            "logicalLocations" : [
              {
                "fullyQualifiedName" : "App.Child.onEvent",
                "index" : 4,
                "kind" : "member",
                "name" : "onEvent"
              }
            ],
            "physicalLocation" : {
              "artifactLocation" : {
                "uri" : "Sources/App.swift",
                "uriBaseId" : "SRCROOT"
              },
              "region" : {
                "startLine" : 7
              }
            }
          }
        ]

        """)
    #expect(result["partialFingerprints"]?["undeadCulprit/v1"]?.text?.count == 16)
    #expect(result["properties"]?["culprit"]?.text == "`onEvent` of App.Child")
    #expect(result["properties"]?["advice"]?.text == "capture it weakly")
  }

  @Test func theRetainPathIsACodeFlow() throws {
    let result = try #require(try json(report([cycle]))["runs"]?.elements[0]["results"]?.elements.first)
    let flows = result["codeFlows"]?.elements ?? []
    #expect(flows.count == 1)
    let steps = flows[0]["threadFlows"]?.elements[0]["locations"]?.elements ?? []
    #expect(steps.map { $0["importance"]?.text } == ["important", "essential"], "what is to blame")
    #expect(
      steps.map { $0["location"]?["message"]?["text"]?.text } == [
        "App.Owner .child → App.Child",
        "App.Child .onEvent → closure #1 in App.Owner.start() at Sources/Owner.swift:12, which captures self → App.Owner",
      ])
    let files = steps.map { $0["location"]?["physicalLocation"]?["artifactLocation"]?["uri"]?.text }
    #expect(files == ["Sources/App.swift", "Sources/Owner.swift"], "the closure's own place")
  }

  @Test func aPathStartsAtItsRoot() throws {
    var leak = cycle
    (leak.kind, leak.cycle) = (.abandoned, nil)
    leak.retainPath = [
      PathStep(root: .init(kind: "global", name: "App.shared"), type: "App.Store", field: "items[3]"),
      PathStep(type: "App.Owner", field: ""),
    ]
    let run = try #require(try json(report([leak]))["runs"]?.elements.first)
    let flow = run["results"]?.elements[0]["codeFlows"]?.elements[0]["threadFlows"]?.elements[0]
    #expect(
      flow?["locations"]?.elements.map { $0["location"]?["message"]?["text"]?.text } == [
        "[global] App.shared", "App.Store .items[3] → App.Owner",
      ])
    let table = run["logicalLocations"]?.elements ?? []
    let field = try #require(table.first { $0["fullyQualifiedName"]?.text == "App.Store.items[3]" })
    guard case .integer(let parent) = field["parentIndex"] else { throw CancellationError() }
    #expect(table[parent]["fullyQualifiedName"]?.text == "App.Store" && table[parent]["kind"]?.text == "type")
  }

  @Test func stacksHaveFilesAndModules() throws {
    let result = try #require(try json(report([cycle]))["runs"]?.elements[0]["results"]?.elements.first)
    let stacks = result["stacks"]?.elements ?? []
    #expect(stacks.count == 1 && stacks[0]["message"]?["text"]?.text == "allocated")
    let frames = stacks[0]["frames"]?.elements ?? []
    #expect(frames.map { $0["module"]?.text } == ["libswiftCore.so", "App", "App"])
    let files = frames.map { $0["location"]?["physicalLocation"]?["artifactLocation"] }
    #expect(files[0] == nil && files[1]?["uri"]?.text == "Sources/App.swift")
    #expect(files[2]?["uri"]?.text == "file:///elsewhere/main.swift" && files[2]?["uriBaseId"] == nil)
    var bare = options
    bare.stacks = false
    #expect(try json(report([cycle]), bare)["runs"]?.elements[0]["results"]?.elements[0]["stacks"] == nil)
  }

  /// Addresses, counts and bytes change from run to run, and so do the other findings.
  @Test func fingerprintsAreTheSameInEveryRun() throws {
    var later = cycle
    (later.count, later.objectCount, later.totalBytes) = (50, 100, 3200)
    later.objects[0].address = "0x2000"
    var other = cycle
    (other.signature, other.cycle) = ("c2", [Reference(type: "App.Other", field: "next")])
    func prints(_ leaks: [Leak], _ options: ReportTextOptions) throws -> Set<JSONValue?> {
      let results = try json(report(leaks), options)["runs"]?.elements[0]["results"]?.elements ?? []
      return Set(results.map { $0["partialFingerprints"] })
    }
    #expect(try prints([cycle], options).isSubset(of: prints([other, later], options)))
    #expect(try prints([other, later], options).count == 2)
    var all = options
    all.groupsByCulprit = false
    #expect(try prints([cycle], all) == [.object(["undeadGroup/v1": .string("c1")])])
  }

  @Test func everyResultHasAFile() throws {
    var leak = cycle
    leak.allocation = Backtrace()
    var report = report([leak])
    report.diagnostics = [Diagnostic(kind: "lateTimer", message: "late", details: ["timer": "poll"])]
    report.zombies = [
      Zombie(
        kind: "method", type: "App.Z", message: "App.Z.tick() was called", address: "0x1", thread: "main",
        signature: "z1", access: allocation)
    ]
    let run = try #require(try json(report)["runs"]?.elements.first)
    let results = run["results"]?.elements ?? []
    #expect(results.map { $0["ruleId"]?.text } == ["retainCycle", "zombie", "lateTimer"])
    #expect(results.map { $0["level"]?.text } == ["error", "error", "note"])
    let places = results.map { $0["locations"]?.elements[0]["physicalLocation"] }
    #expect(
      places.map { $0?["artifactLocation"]?["uri"]?.text } == [
        ".build/debug/App", "Sources/App.swift", ".build/debug/App",
      ])
    #expect(places.allSatisfy { $0?["region"]?["startLine"] != nil })
    let rules = run["tool"]?["driver"]?["rules"]?.elements ?? []
    guard case .integer(let index) = results[2]["ruleIndex"] else { throw CancellationError() }
    #expect(rules[index]["id"]?.text == "lateTimer")
  }

  @Test func anIncompleteCheckWasNotSuccessful() throws {
    var report = report([])
    report.summary.complete = false
    report.summary.notes = ["no check was made: {why} a[1](x)"]
    let invocation = try json(report)["runs"]?.elements[0]["invocations"]?.elements[0]
    #expect(invocation?["executionSuccessful"] == .bool(false))
    let notes = invocation?["toolExecutionNotifications"]?.elements ?? []
    #expect(notes.count == 1 && notes[0]["level"]?.text == "warning")
    #expect(notes[0]["message"]?["text"]?.text == "no check was made: {{why}} a[1] (x)", "no placeholder, no link")
  }

  @Test func namesOfFilesAreURIs() {
    let places = SARIFPlaces(options)
    #expect(places.file("/re po/a%b:c?é.swift", line: 1).artifactLocation.uri == "a%25b%3Ac%3F%C3%A9.swift")
    #expect(places.file("/re potato/a.swift", line: 0).region == nil)
    #expect(places.file("/re potato/a.swift", line: 1).artifactLocation.uri == "file:///re%20potato/a.swift")
    #expect(places.file("Sources/a.swift", line: 1).artifactLocation.uriBaseId == "SRCROOT")
    #expect(SARIFPlaces(ReportTextOptions()).bases == nil)
  }
}
