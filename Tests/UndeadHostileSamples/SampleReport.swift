import UndeadReport

/// A report with a finding of each kind.
package enum SampleReport {
  package static func frame(_ symbol: String, _ line: Int? = nil, system: Bool = false, inlined: Bool = false) -> Frame
  {
    Frame(
      symbol: symbol, file: line.map { _ in "/app/Sources/App/main.swift" }, line: line,
      module: system ? "libswiftCore.so" : "App", offset: 4096, inlined: inlined, system: system)
  }

  package static func stack(_ function: String, _ line: Int) -> Backtrace {
    Backtrace(frames: [
      frame("swift_allocObject", system: true), frame(function, line), frame("main", 90),
      frame("__libc_start_main", system: true),
    ])
  }

  package static let pair = Leak(
    signature: "00000000000000a1", kind: .retainCycle, count: 2, objectCount: 6, totalBytes: 288,
    objects: [
      LeakedObject(type: "App.Owner", address: "0x1000", size: 48),
      LeakedObject(type: "App.Child", address: "0x2000", size: 32),
    ],
    cycle: [
      Reference(type: "App.Owner", field: "child", fieldType: "Swift.Optional<App.Child>"),
      Reference(type: "App.Child", field: "owner", fieldType: "App.Owner"),
    ],
    alsoLeaked: [TypeCount(type: "Swift.__StringStorage", count: 2, bytes: 128)],
    allocation: stack("App.makePair()", 12), otherAllocations: [stack("App.again()", 14)], allocationPaths: 4,
    advice: "`owner` of App.Child refers back to what holds it: declare it `weak`")

  package static let closure = Leak(
    signature: "00000000000000a2", kind: .retainCycle, totalBytes: 64,
    objects: [LeakedObject(type: "App.Player", address: "0x3000", size: 64)],
    cycle: [
      Reference(
        type: "App.Player", field: "onEnd", fieldType: "() -> ()",
        closure: frame("closure #1 in App.Player.start()", 24), captures: "self")
    ],
    allocation: stack("App.play()", 20),
    advice: "closure stored in `onEnd` captures `self` strongly: capture it weakly (`[weak self]`)",
    test: TestIdentity(
      name: "testPlays", suite: "AppTests.PlayerTests", library: "XCTest", file: "/app/Tests/Player.swift"))

  package static let abandoned = Leak(
    signature: "00000000000000a3", kind: .abandoned, totalBytes: 96,
    objects: [LeakedObject(type: "App.Session", address: "0x4000", size: 96)],
    retainPath: [
      PathStep(
        root: .init(kind: "global", name: "App.cache"), type: "App.Cache", field: "sessions[value]",
        fieldType: "Swift.Dictionary<Swift.String, App.Session>"),
      PathStep(type: "App.Session", field: ""),
    ],
    scope: .init(name: "Detail screen", backtrace: stack("App.closeScreen()", 33)), allocation: stack("App.open()", 30))

  package static let suspect = Suspect(
    kind: .timer, signature: "00000000000000b1", count: 3, totalBytes: 120,
    objects: [LeakedObject(type: "App.Clock", address: "0x5000", size: 40)],
    retainPath: [
      PathStep(
        root: .init(kind: "stack", name: "stack of thread 1", references: 2, owned: 1), type: "Foundation.Timer",
        field: "_fire", fieldType: "(Foundation.Timer) -> ()", closure: frame("closure #1 in App.Clock.start()", 41),
        captures: "self"),
      PathStep(type: "App.Clock", field: ""),
    ],
    holdsBack: [Reference(type: "App.Clock", field: "timer", fieldType: "Swift.Optional<Foundation.Timer>")],
    allocation: stack("App.run()", 40), advice: "capture `self` weakly in its block")

  package static let zombie = Zombie(
    kind: "method", type: "App.Poller", message: "App.Poller.tick() was called on a dead App.Poller", address: "0x6000",
    thread: "main", count: 2, signature: "00000000000000c1", member: "App.Poller.tick()", deallocationThread: "worker",
    ageMilliseconds: 12.5, details: "its class had no `unowned` reference", advice: "keep a strong reference",
    allocation: stack("App.poll()", 50), deallocation: stack("App.stop()", 51), access: stack("App.fire()", 52))

  package static let diagnostic = Diagnostic(
    kind: "lateFire", message: "the timer fired 1.5 s late", details: ["timer": "refresh", "seconds": "1.5"],
    backtrace: stack("App.refresh()", 60), backtraces: [.init(role: "creation", frames: [frame("App.arm()", 61)])])

  package static var full: LeakReport {
    var known = pair
    known.reason = "XCTest keeps its test cases"
    known.objects = [LeakedObject(type: "XCTest.XCTestCaseRun", address: "0x7000", size: 80)]
    var report = LeakReport(
      tool: .init(version: "1.2.3"),
      process: .init(
        path: "/app/.build/debug/App", arguments: ["App", "--serve"], pid: 42, exitStatus: 0,
        startedAt: "2023-11-14T22:13:20.500Z", durationSeconds: 1.25),
      leaks: [pair, closure, abandoned], suspects: [suspect], knownLeaks: [known], zombies: [zombie],
      diagnostics: [diagnostic])
    report.updateCounts()
    report.summary.liveBlocks = 12345
    report.summary.liveBytes = 1_234_567
    report.summary.pauseMilliseconds = 1.25
    report.summary.scanMilliseconds = 1234.5
    report.summary.notes = ["2 blocks of C code cannot be reached"]
    return report
  }

  /// Every text is an attack on the page.
  package static func hostile(_ text: String) -> LeakReport {
    var report = full
    let frame = Frame(symbol: text, file: text, line: 1, module: text)
    let trace = Backtrace(frames: [frame, frame])
    let object = LeakedObject(type: text, address: text, size: 1)
    let cycle = [
      Reference(type: text, field: text, fieldType: text, closure: frame, captures: text),
      Reference(type: text, field: text, fieldType: text),
    ]
    let path = [
      PathStep(
        root: .init(kind: "runLoop", name: text), type: text, field: text, fieldType: text, item: text, mode: text,
        name: text), PathStep(type: text, field: ""),
    ]
    let test = TestIdentity(name: text, suite: text, library: text, file: text, line: 1)
    report.tool = .init(name: text, version: text)
    report.process.path = text
    report.process.arguments = [text, text]
    report.process.startedAt = text
    report.leaks = [
      Leak(
        signature: text, kind: .init(rawValue: text), totalBytes: 1, objects: [object], cycle: cycle, retainPath: path,
        innerCycles: [cycle], alsoLeaked: [.init(type: text, count: 1, bytes: 1)],
        scope: .init(name: text, backtrace: trace), allocation: trace, otherAllocations: [trace], suspended: trace,
        advice: "`" + text, reason: text, test: test)
    ]
    report.suspects = [
      Suspect(
        kind: .init(rawValue: text), signature: text, totalBytes: 1, objects: [object], retainPath: path,
        holdsBack: cycle, cycle: cycle, allocation: trace, suspended: trace, advice: text, test: test)
    ]
    report.knownLeaks = report.leaks
    report.zombies = [
      Zombie(
        kind: text, type: text, message: text, address: text, thread: text, signature: text, deallocationThread: text,
        details: text, advice: text, allocation: trace, deallocation: trace, access: trace)
    ]
    report.diagnostics = [
      Diagnostic(
        kind: text, message: text, details: [text: text], backtrace: trace,
        backtraces: [.init(role: text, frames: [frame])])
    ]
    report.runLoops = .object(["loops": .array([.object(["name": .string(text), "fires": .integer(1)])])])
    report.summary.notes = [text]
    report.updateCounts()
    return report
  }
}
