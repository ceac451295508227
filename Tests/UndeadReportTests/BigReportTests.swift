import Foundation
import Testing
import UndeadTestSupport

@testable import UndeadFormats
@testable import UndeadReport

/// Reports of hundreds of groups: told by what is to blame, the worst first.
@Suite struct BigReportTests {
  /// What a generic helper of a test suite leaks: a group for each test and each generic argument.
  static func suite(groups: Int, others: Int = 0, base: UInt64 = 0x5500_0000_0000) -> SyntheticHeap {
    var heap = SyntheticHeap(base: base)
    for number in 0..<groups {
      let type = "Helper.Probe<XTests.Model\(number % 50)<Swift.Int>, () -> Swift.Int>"
      let probe = heap.object(
        type, size: UInt64(48 + number % 3 * 16),
        at: [
          .app("Helper.makeProbe(_:)", "/app/Helper.swift", 11),
          .app("XTests.Cases\(number % 7).test\(number)()", "/app/Tests/X.swift", 100 + number),
          .system("XCTest.XCTestCase.invokeTest()", "libXCTest.so"),
        ])
      let context = heap.context()
      let closure = SyntheticHeap.Function.app("closure #1 in Helper.Probe.start()", "/app/Helper.swift", 7)
      heap.link(probe, "onEvent", context, type: "() -> ()", closure: closure)
      heap.link(context, "captured 0", probe)
    }
    for number in 0..<others {
      let node = heap.object("App.Other\(number)", size: UInt64(1000 - number), at: Scenario.site("App.other()", 5))
      heap.link(node, "again", node)
    }
    return heap
  }

  static func report(_ heap: SyntheticHeap) -> LeakReport {
    let snapshot = heap.built
    var symbols = snapshot.symbols
    symbols.tests = TestCatalog()
    return LeakReport(analyzing: [ReportInput(snapshot, symbols: symbols)])
  }

  @Test func oneHelperIsOneBlock() throws {
    let report = Self.report(Self.suite(groups: 600))
    #expect(report.leaks.count == 600)
    let text = TextRenderer.render(report)
    #expect(
      text == """
        LEAKS 1-600 of 600  retain cycle of Helper.Probe, 600 times  (1,200 objects, 56.3 KB)

          the worst of 600 groups: retain cycle of Helper.Probe<XTests.Model0<Swift.Int>, () -> Swift.Int>  (2 objects, 112 bytes)

            Helper.Probe<XTests.Model0<Swift.Int>, () -> Swift.Int>
              .onEvent → closure #1 in Helper.Probe.start() at /app/Helper.swift:7
              ^^^^^^^^
                  captures self → Helper.Probe<XTests.Model0<Swift.Int>, () -> Swift.Int>  ↺

          allocated  in Helper.makeProbe(_:) at /app/Helper.swift:11
          culprit    `onEvent` of Helper.Probe
          likewise   retain cycle of Helper.Probe<XTests.Model10<Swift.Int>, () -> Swift.Int>
                     retain cycle of Helper.Probe<XTests.Model11<Swift.Int>, () -> Swift.Int>
                     retain cycle of Helper.Probe<XTests.Model12<Swift.Int>, () -> Swift.Int>
                     and 46 more
          tests      XTests.Cases0/test0
                     XTests.Cases0/test105
                     XTests.Cases0/test112
                     and 597 more
          advice     closure stored in `onEvent` captures `self` strongly: capture it weakly (`[weak self]`)

          stack of the allocation:
            #0  Helper.makeProbe(_:) at /app/Helper.swift:11
            #1  XTests.Cases4.test200() at /app/Tests/X.swift:300

        next: undead test -- --filter 'XTests.Cases4/test200'  (the worst of 600 tests)
        undead: 600 leaks (1,200 objects, 56.3 KB)

        """)
  }

  @Test func theRestIsOneLine() throws {
    let report = Self.report(Self.suite(groups: 600, others: 30))
    var options = ReportTextOptions(stacks: false)
    options.hint = ": use --top"
    let text = TextRenderer.render(report, options: options)
    #expect(text.count(where: { $0 == "\n" }) < 200)
    #expect(text.hasPrefix("LEAKS 1-600 of 630  retain cycle of Helper.Probe, 600 times  (1,200 objects, 56.3 KB)\n"))
    #expect(text.contains("\nLEAK 601 of 630  retain cycle of App.Other0  (1 object, 1.0 KB)\n"))
    #expect(text.contains("\nLEAK 619 of 630  retain cycle of App.Other18  (1 object, 982 bytes)\n"))
    #expect(text.contains("\n... and 11 more leaks (11 objects, 10.5 KB): use --top\n\nnext: undead test -- --filter"))
    options.top = 1
    let one = TextRenderer.render(report, options: options)
    #expect(one.contains("\n... and 30 more leaks (30 objects, 28.9 KB): use --top\n"))
    (options.top, options.groupsByCulprit) = (.max, false)
    let all = TextRenderer.render(report, options: options)
    #expect(all.contains("LEAK 630 of 630") && !all.contains("more leak") && !all.contains("culprit"))
  }

  @Test func culpritsInJSON() throws {
    let report = Self.report(Self.suite(groups: 600, others: 2))
    let data = try JSONRenderer.render(report)
    let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
    let culprits = try #require(json["culprits"] as? [[String: Any]])
    #expect(culprits.count == 3)
    let worst = culprits[0]
    #expect(worst["signature"] as? String == "74dc592121bed1dc")
    #expect(worst["kind"] as? String == "retainCycle")
    #expect(worst["type"] as? String == "Helper.Probe")
    #expect(worst["field"] as? String == "onEvent")
    #expect(worst["title"] as? String == "`onEvent` of Helper.Probe")
    #expect(worst["groups"] as? Int == 600 && worst["count"] as? Int == 600 && worst["objectCount"] as? Int == 1200)
    #expect(
      worst["totalBytes"] as? Int
        == report.leaks.filter { $0.cycle?[0].field == "onEvent" }.map(\.totalBytes).reduce(0, +))
    #expect((worst["tests"] as? [[String: Any]])?.count == 600)
    #expect((worst["findings"] as? [String])?.count == 600)
    #expect((json["leaks"] as? [[String: Any]])?.count == 602, "all groups, as ever")
    #expect(try JSONRenderer.parse(data) == report)
  }

  @Test func annotationsAreOnePerCulprit() {
    let text = GitHubRenderer.render(Self.report(Self.suite(groups: 600, others: 30)))
    #expect(text.count(where: { $0 == "\n" }) == 11)
    #expect(text.hasPrefix("::error title=Leak in 600 tests::LEAK  retain cycle of Helper.Probe, 600 times  ("))
    #expect(
      text.contains(
        "\n::notice title=Not all findings are shown::... and 22 more leaks (22 objects, 21.1 KB): a report in another form "
      ))
  }

  @Test func testCasesTellTheFirstOfACulpritInFull() throws {
    let text = JUnitRenderer.render(Self.report(Self.suite(groups: 3)))
    #expect(text.ranges(of: "captures self").count == 1)
    #expect(
      text.contains(
        """
        <testcase classname="XTests.Cases2" name="test2" file="/app/Tests/X.swift" line="102" time="0">
              <failure message="retain cycle of Helper.Probe&lt;XTests.Model2&lt;Swift.Int&gt;, () -&gt; Swift.Int&gt;" \
        type="retainCycle">LEAK  retain cycle of Helper.Probe&lt;XTests.Model2&lt;Swift.Int&gt;, () -&gt; Swift.Int&gt;  \
        (2 objects, 112 bytes)
          allocated  in Helper.makeProbe(_:) at /app/Helper.swift:11
          culprit    `onEvent` of Helper.Probe, as in XTests.Cases0/test0
        </failure>
        """), "\(text)")
  }

  @Test func culpritsAreTheSameInEveryRun() throws {
    let first = Self.report(Self.suite(groups: 40, others: 5)).culprits
    #expect(Self.report(Self.suite(groups: 40, others: 5, base: 0x7100_0000_0000)).culprits == first)
    var random = SeededGenerator(seed: 3)
    for _ in 0..<5 {
      let snapshot = PermutationTests.permuted(Self.suite(groups: 40, others: 5).built, &random)
      var symbols = snapshot.symbols
      symbols.tests = TestCatalog()
      #expect(LeakReport(analyzing: [ReportInput(snapshot, symbols: symbols)]).culprits == first)
    }
  }

  @Test func knownLeaksOfOneReasonAreOneLine() throws {
    let object = LeakedObject(type: "XTests.Cases", address: "0x1", size: 32)
    let known = (0..<5).map {
      Leak(
        signature: "\($0)", kind: .retainCycle, totalBytes: 32,
        objects: [LeakedObject(type: "XTests.Cases\($0)", address: "0x1", size: 32)], reason: "XCTest keeps it")
    }
    let other = Leak(signature: "9", kind: .retainCycle, totalBytes: 8, objects: [object], reason: "other")
    #expect(
      TextRenderer.render(LeakReport(knownLeaks: known + [other])) == """
        KNOWN LEAKS of the toolchain, which the program cannot help
          1 × XTests.Cases0 (32 bytes), 1 × XTests.Cases1 (32 bytes), 1 × XTests.Cases2 (32 bytes), 2 more groups: XCTest \
        keeps it
          1 × XTests.Cases (8 bytes): other

        undead: no leaks, 6 known

        """)
  }

  @Test func newLeaksOfADifferenceAreGroupedToo() throws {
    let report = Self.report(Self.suite(groups: 30, others: 1))
    let text = DiffRenderer.text(ReportDiff(from: LeakReport(), to: report), options: ReportTextOptions(stacks: false))
    #expect(text.hasPrefix("NEW 1-30 of 31  retain cycle of Helper.Probe, 30 times"))
    #expect(text.contains("\nNEW 31 of 31  retain cycle of App.Other0"))
  }

  @Test func zombiesHaveALimit() {
    let zombies = (0..<25).map {
      Zombie(kind: "method", type: "App.A", message: "used \($0)", address: "0x1", thread: "main")
    }
    let text = TextRenderer.render(LeakReport(zombies: zombies), options: ReportTextOptions(stacks: false))
    #expect(text.contains("zombie: used 19\n") && !text.contains("zombie: used 20\n"))
    #expect(text.contains("\n... and 5 more zombies\n"))
  }
}
