import Testing

@testable import UndeadReport

/// Which test a stack belongs to.
@Suite struct TestFinderTests {
  private static let xctest = [
    frame("XCTest.XCTestCase.invokeTest()", module: "libXCTest.so", system: true),
    frame("main", "/p/runner.swift", 3),
  ]
  private static let job = [frame("swift_job_run", module: "libswift_Concurrency.so", system: true)]

  private static func frame(
    _ symbol: String, _ file: String? = nil, _ line: Int? = nil, module: String = "AppTests", system: Bool = false
  ) -> Frame {
    Frame(symbol: symbol, file: file, line: line, module: module, system: system)
  }

  private var catalog: TestCatalog {
    var catalog = TestCatalog()
    for symbol in [
      // @Test of `STests.asyncLeak`, of `STests.Suite1.parameterised`, of a raw identifier, of a private function.
      "$s6STests50$s6STests9asyncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKF",
      "$s6STests6Suite1V010$s6STests6B47V13parameterised4TestfMp_16ceac00ed8d56f92ffMu_33_A4074C13B9A31F18771B2FD993CCAB4D"
        + "LL1nySi_tYaYbKFZ",
      "$s6STests1SV101$s6STests1SV10privateOne33_A4074C13B9A31F18771B2FD993CCAB4DLL4TestfMp_25generator4048fa3a5e64b52dfMu_"
        + "01_fghijklM1DLL7Testing4TestVyYaYbFZ",
    ] {
      catalog.add(symbol)
    }
    catalog.modules = ["XTests"]
    return catalog
  }

  @Test func whatASuiteMakesBeforeItsTestsBelongsToIt() {
    let xctest = test(
      [
        Self.frame("variable initialization expression of XTests.Cases.subject", "/p/T.swift", 4),
        Self.frame("XTests.Cases.init(name:testClosure:)", "/p/T.swift", 3),
        Self.frame("XTests.Cases.__allocating_init(name:testClosure:)", "/p/T.swift", 3),
      ] + Self.xctest)
    #expect(xctest.map { [$0.suite, $0.name, $0.library] } == ["XTests.Cases", "init", "XCTest"])
    let suite = test([Self.frame("STests.Suite1.init() -> STests.Suite1", "/p/S.swift", 3)] + Self.job)
    #expect(suite.map { [$0.suite, $0.name, $0.library] } == ["STests.Suite1", "init", "Testing"])
    #expect(test([Self.frame("STests.Helper.init() -> STests.Helper", "/p/S.swift", 9)] + Self.job) == nil)
  }

  private func test(_ frames: [Frame]) -> TestIdentity? {
    TestFinder(catalog: catalog).test(in: Backtrace(frames: frames))
  }

  @Test func readsTheNamesOfMacros() {
    #expect(catalog.functions == ["STests.asyncLeak", "STests.Suite1.parameterised", "STests.S.privateOne"])
    #expect(
      TestCatalog.expandedTest(in: "$s6STests6Suite1V5InnerV0024rawnamehere_claeDFDEIena4TestfMp_7__localfMu0_")
        == "STests.Suite1.Inner.`raw\u{A0}name\u{A0}here`")
    #expect(TestCatalog.expandedTest(in: "App.makeTestfMp_()") == nil)
  }

  @Test func ofFunctionsOfOneTestOneIsRead() {
    var catalog = TestCatalog()
    // Two of one test, one of another test, one of a test of the same name in another type, the list of a module.
    catalog.add([
      "$s6STests50$s6STests9asyncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKF",
      "$s6STests50$s6STests9asyncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKFTY0_",
      "$s6STests49$s6STests8syncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKF",
      "$s6STests1SV52$s6STests1SV8syncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKF",
      "$s25AppPackageDiscoveredTests20__XTests__allTestsSaySS_SaySS_ytYbKctGtGyF",
    ])
    #expect(catalog.functions == ["STests.asyncLeak", "STests.syncLeak", "STests.S.syncLeak"])
    #expect(catalog.suites == ["STests", "STests.S"])
    var each = TestCatalog()
    each.add(
      "$s6STests50$s6STests9asyncLeak4TestfMp_16bf67820f173932e0fMu_33_A4074C13B9A31F18771B2FD993CCAB4DLLyyYaYbKFTY0_")
    #expect(each.functions == ["STests.asyncLeak"])
  }

  @Test func ofXCTestIsTheMethodUnderTheLibrary() {
    let found = test(
      [Self.frame("Lib.makeCycle()"), Self.frame("XTests.Cases.testOne()", "/p/X.swift", 4)] + Self.xctest)
    #expect(
      found == TestIdentity(name: "testOne", suite: "XTests.Cases", library: "XCTest", file: "/p/X.swift", line: 4))
  }

  @Test func ofSetUpIsTheFixture() {
    #expect(test([Self.frame("XTests.Cases.setUp()")] + Self.xctest)?.fullName == "XTests.Cases/setUp")
  }

  @Test(arguments: [
    "XTests.Cases.testAsync()", "closure #1 in XTests.Cases.testAsync()",
    "(2) await resume partial function for closure #1 () -> () in XTests.Cases.testAsync()",
    "helper #1 () in XTests.Cases.testAsync()",
  ])
  func withoutTheLibraryOnTheStackIsToldByItsName(_ symbol: String) {
    #expect(test([Self.frame("Lib.makeCycle()"), Self.frame(symbol)] + Self.job)?.fullName == "XTests.Cases/testAsync")
  }

  @Test(arguments: [
    "STests.asyncLeak()", "STests.Suite1.parameterised(n:)", "closure #1 in closure #2 in STests.asyncLeak()",
    "static STests.S.privateOne(_:)", "(extension in STests):STests.S.privateOne(_:)",
  ])
  func ofSwiftTestingIsInTheCatalogue(_ symbol: String) {
    let found = test([Self.frame("Lib.makeCycle()"), Self.frame(symbol)] + Self.job)
    #expect(found?.library == "Testing")
    #expect(["asyncLeak()", "parameterised(n:)", "privateOne(_:)"].contains(found?.name))
  }

  @Test func ofSwiftTestingIsUnderTheCodeOfItsMacro() {
    let thunk = "$s6STests6Suite1V6nested4TestfMp_7__localfMu0_ #1 @Sendable(_:) in static STests.Suite1.$s6STests()"
    let frames = [Self.frame("STests.Suite1.nested()"), Self.frame(thunk, system: true)]
    let found = TestFinder(catalog: TestCatalog()).test(in: Backtrace(frames: frames + Self.job))
    #expect(found?.fullName == "STests.Suite1/nested()")
  }

  @Test(arguments: ["Lib.Client.testConnection()", "Lib.asyncHelper()", "STests.helper()", "XTests.Cases.testWith(_:)"])
  func isNotAnyOtherFunction(_ symbol: String) {
    #expect(test([Self.frame(symbol)] + Self.job) == nil)
  }

  @Test func thatCallsAnotherOneIsTheOuterOne() {
    let frames = [Self.frame("XTests.Cases.testInner()"), Self.frame("XTests.Cases.testOuter()")]
    #expect(test(frames + Self.xctest)?.name == "testOuter")
  }
}

/// Findings in the order of their tests.
@Suite struct TestGroupingTests {
  private func heap() -> SyntheticHeap {
    var heap = SyntheticHeap()
    let library = SyntheticHeap.Function.system("XCTest.XCTestCase.invokeTest()", "libXCTest.so")
    for (test, count) in [("testB", 1), ("testA", 2), ("helper", 5)] {
      for _ in 0..<count {
        _ = heap.object(
          "App.Node",
          at: [
            .app("App.make()", "/app/App.swift", 7), .app("XTests.Cases.\(test)()", "/app/Tests/X.swift", 3), library,
          ])
      }
    }
    return heap
  }

  private func report(_ tests: TestCatalog?) -> LeakReport {
    let snapshot = heap().built
    var symbols = snapshot.symbols
    symbols.tests = tests
    return LeakReport(analyzing: [ReportInput(snapshot, symbols: symbols)])
  }

  @Test func splitsAndSorts() {
    let report = report(TestCatalog())
    #expect(report.leaks.map(\.test?.name) == ["testA", "testB", nil])
    #expect(report.leaks.map(\.count) == [2, 1, 5])
    #expect(Set(report.leaks.map(\.signature)).count == 3)
  }

  @Test func isOnlyDoneWhenAskedFor() {
    let report = report(nil)
    #expect(report.leaks.map(\.count) == [8])
    #expect(report.leaks[0].test == nil)
  }

  @Test func survivesJSON() throws {
    let report = report(TestCatalog())
    #expect(try JSONRenderer.parse(JSONRenderer.render(report)) == report)
  }

  @Test func textsTellTheTest() {
    let text = TextRenderer.render(report(TestCatalog()), options: ReportTextOptions(stacks: false))
    #expect(
      text.hasPrefix(
        """
        LEAKS 1-3 of 3  App.Node that nothing refers to, 8 times  (8 objects, 256 bytes)

          the worst of 3 groups: App.Node that nothing refers to, 5 times  (5 objects, 160 bytes)

          allocated  in App.make() at /app/App.swift:7
          culprit    App.Node made in App.make()
          tests      XTests.Cases/testA, 2 times
                     XTests.Cases/testB
                     no test, 5 times
        """))
    var options = ReportTextOptions(stacks: false)
    options.groupsByCulprit = false
    let all = TextRenderer.render(report(TestCatalog()), options: options)
    #expect(all.contains("\n  test       XTests.Cases/testB at /app/Tests/X.swift:3\n"))
  }
}
