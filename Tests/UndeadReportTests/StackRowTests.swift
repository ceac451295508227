import Testing

@testable import UndeadReport

/// What of a stack is shown: functions of the program, and what they called of libraries.
@Suite struct StackRowTests {
  private static func app(_ symbol: String, _ line: Int? = 1, offset: UInt64 = 0) -> Frame {
    Frame(symbol: symbol, file: line == nil ? nil : "/app/main.swift", line: line, module: "App", offset: offset)
  }

  private static func system(_ symbol: String, _ module: String) -> Frame {
    Frame(symbol: symbol, module: module, system: true)
  }

  private static func text(_ frames: [Frame], depth: Int = 16) -> [String] {
    Backtrace(frames: frames).rows(depth: depth).map { row in
      switch row {
      case .frame(let frame): frame.symbol
      case .folded(let frames, let owner): "\(frames.count) of \(owner)"
      case .more(let count): "\(count) more"
      }
    }
  }

  @Test func whatLibrariesDidIsFolded() {
    let frames = [
      Self.system("swift_slowAlloc", "libswiftCore.so"), Self.system("swift_allocObject", "libswiftCore.so"),
      Self.app("App.Node.__allocating_init()"), Self.app("closure #1 in App.run()", 7),
      Self.app("reabstraction thunk", nil), Self.system("reabstraction thunk", "libswiftDispatch.so"),
      Self.system("_dispatch_lane_barrier_sync_invoke_and_complete", "libdispatch.so"),
      Self.system("Dispatch.DispatchQueue.sync(execute:)", "libswiftDispatch.so"), Self.app("App.run()", 7),
      Self.app("main", 9), Self.system("__libc_start_main", "libc.so.6"), Self.system("_start", "App"),
    ]
    #expect(
      Self.text(frames) == [
        "closure #1 in App.run()", "3 of Dispatch", "Dispatch.DispatchQueue.sync(execute:)", "App.run()", "main",
      ])
    #expect(Backtrace(frames: frames).rows(depth: 99, folds: false).count == frames.count)
  }

  @Test func oneFrameIsNoRun() {
    let frames = [
      Self.app("closure #1 in App.a()"), Self.system("Swift.Sequence.forEach(_:)", "libswiftCore.so"),
      Self.app("App.a()"), Self.app("reabstraction thunk", nil), Self.app("main"),
    ]
    #expect(Self.text(frames) == frames.map(\.symbol))
  }

  @Test func testMachineryIsFoldedOrLeftOut() {
    let inner = [Self.app("App.make()"), Self.app("Tests.Cases.testA()")]
    let outer = [
      Frame(
        symbol: "implicit closure #2 in implicit closure #1 in variable initialization expression of static "
          + "Tests.Cases.__allTests__Cases", file: "/app/.build/Discovered.derived/Tests.swift", module: "App"),
      Self.app("reabstraction thunk", nil), Self.system("XCTest.XCTest.run()", "libXCTest.so"),
      Self.system("XCTest.XCTMain(_:)", "libXCTest.so"),
      Frame(symbol: "static Package.Runner.main()", file: "/app/.build/Package.derived/runner.swift", module: "App"),
      Self.app("static Package.Runner.$main()", nil),
      Frame(symbol: "main", file: "/app/.build/Package.derived/runner.swift", module: "App"),
      Self.system("_start", "App"),
    ]
    #expect(Self.text(inner + outer) == ["App.make()", "Tests.Cases.testA()"])
    let nested = inner + outer.prefix(4) + [Self.app("App.runTests()")]
    #expect(
      Self.text(nested) == ["App.make()", "Tests.Cases.testA()", "3 of XCTest", "XCTest.XCTMain(_:)", "App.runTests()"])
  }

  @Test func aForwarderIsTheClosure() {
    let frames = [
      Self.app("closure #1 in App.a()", 4, offset: 16), Self.app("closure #1 in App.a()", 4, offset: 99),
      Self.app("App.b()"),
      Self.app("App.b()"),
    ]
    #expect(
      Self.text(frames) == ["closure #1 in App.a()", "App.b()", "App.b()"], "a function that calls itself is two")
    let same = [Self.app("closure #1 in App.a()", 4, offset: 16), Self.app("closure #1 in App.a()", 4, offset: 16)]
    #expect(Self.text(same).count == 2)
  }

  @Test func stacksOfLibrariesAloneAreShown() {
    let frames = (1...4).map { Self.system("Foundation.f\($0)()", "libFoundation.so") }
    #expect(Self.text(frames) == frames.map(\.symbol))
  }

  @Test func depthCountsRows() {
    let run = (1...9).map { Self.system("_CF\($0)", "libFoundation.so") }
    let frames = [Self.app("App.a()")] + run + [Self.app("App.b()"), Self.app("App.c()")]
    #expect(Self.text(frames, depth: 2) == ["App.a()", "8 of Foundation", "3 more"])
    #expect(Self.text(frames, depth: 0) == ["12 more"])
  }

  @Test func generatedFramesAreMarkedInJSON() throws {
    var leak = Leak(signature: "1", kind: .unreferenced, totalBytes: 8)
    leak.allocation = Backtrace(frames: [Self.app("reabstraction thunk", nil), Self.app("App.a()")])
    let text = String(decoding: try JSONRenderer.render(LeakReport(leaks: [leak])), as: UTF8.self)
    #expect(text.ranges(of: "\"generated\" : true").count == 1)
  }
}
