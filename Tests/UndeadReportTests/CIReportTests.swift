import Foundation
import Testing

@testable import UndeadReport

/// Reports for CI systems: whole texts, and what makes them safe.
@Suite struct CIReportTests {
  private var report: LeakReport {
    let frames = [
      Frame(symbol: "App.make()", file: "/repo/Sources/App.swift", line: 7, module: "App"),
      Frame(symbol: "XTests.Cases.testA()", file: "/repo/Tests/X.swift", line: 3, module: "App"),
    ]
    let test = TestIdentity(
      name: "testA", suite: "XTests.Cases", library: "XCTest", file: "/repo/Tests/X.swift", line: 3)
    let cycle = [Reference(type: "App.Box<A & B>", field: "next")]
    let object = LeakedObject(type: "App.Box<A & B>", address: "0x1000", size: 32)
    var report = LeakReport(
      process: .init(path: "/usr/bin/swift", pid: 7, exitStatus: 0, startedAt: "2026-01-02T03:04:05.600Z"),
      leaks: [
        Leak(
          signature: "1", kind: .retainCycle, totalBytes: 32, objects: [object], cycle: cycle,
          allocation: Backtrace(frames: frames), test: test),
        Leak(signature: "2", kind: .unreferenced, count: 2, objectCount: 2, totalBytes: 64, objects: [object]),
      ],
      suspects: [
        Suspect(
          kind: .timer, signature: "3", totalBytes: 16, objects: [object],
          retainPath: [PathStep(type: "App.Box<A & B>", field: "")], allocation: Backtrace(frames: frames), test: test)
      ])
    report.summary.notes = ["100% of it, a:b"]
    report.updateCounts()
    return report
  }

  private var options: TextOptions {
    var options = TextOptions()
    options.directory = "/repo"
    return options
  }

  @Test func junit() {
    #expect(
      JUnitRenderer.render(report, options: options) == """
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="undead" tests="2" failures="2" errors="0">
          <testsuite name="undead" tests="2" failures="2" errors="0" skipped="0" timestamp="2026-01-02T03:04:05">
            <properties>
              <property name="undead.leaks" value="2"/>
              <property name="undead.leakedBytes" value="96"/>
              <property name="undead.suspects" value="1"/>
              <property name="undead.knownLeaks" value="0"/>
              <property name="undead.zombies" value="0"/>
              <property name="undead.suppressed" value="0"/>
              <property name="undead.complete" value="true"/>
            </properties>
            <testcase classname="XTests.Cases" name="testA" file="Tests/X.swift" line="3" time="0">
              <failure message="retain cycle of App.Box&lt;A &amp; B&gt;" type="retainCycle">LEAK  retain cycle of \
        App.Box&lt;A &amp; B&gt;  (1 object, 32 bytes)

            App.Box&lt;A &amp; B&gt;
              .next → App.Box&lt;A &amp; B&gt;  ↺

          allocated  in App.make() at Sources/App.swift:7
            #0  App.make() at Sources/App.swift:7
            #1  XTests.Cases.testA() at Tests/X.swift:3
        </failure>
              <system-out>SUSPECT  App.Box&lt;A &amp; B&gt; held only by a timer that it holds itself  (16 bytes)

            App.Box&lt;A &amp; B&gt;

          allocated  in App.make() at Sources/App.swift:7
            #0  App.make() at Sources/App.swift:7
            #1  XTests.Cases.testA() at Tests/X.swift:3
        </system-out>
            </testcase>
            <testcase classname="undead" name="swift" time="0">
              <failure message="App.Box&lt;A &amp; B&gt; that nothing refers to, 2 times" type="unreferenced">LEAK  \
        App.Box&lt;A &amp; B&gt; that nothing refers to, 2 times  (2 objects, 64 bytes)

          allocated  at an unknown place: no backtrace was recorded
        </failure>
              <system-out>note: 100% of it, a:b</system-out>
            </testcase>
          </testsuite>
        </testsuites>

        """)
  }

  @Test func github() {
    var report = report
    report.summary.complete = false
    #expect(
      GitHubRenderer.render(report, options: options) == """
        ::error title=Leak::LEAK  App.Box<A & B> that nothing refers to, 2 times  (2 objects, 64 bytes)%0A%0A  allocated  \
        at an unknown place: no backtrace was recorded
        ::error file=Sources/App.swift,line=7,title=Leak in XTests.Cases/testA::LEAK  retain cycle of App.Box<A & B>  \
        (1 object, 32 bytes)%0A%0A    App.Box<A & B>%0A      .next → App.Box<A & B>  ↺%0A%0A  allocated  in App.make() at \
        Sources/App.swift:7%0A  \
        test       XTests.Cases/testA at Tests/X.swift:3
        ::warning file=Sources/App.swift,line=7,title=Suspect in XTests.Cases/testA::SUSPECT  App.Box<A & B> held only by \
        a timer that it holds itself  (16 bytes)%0A%0A    App.Box<A & B>%0A%0A  allocated  in App.make() at \
        Sources/App.swift:7%0A  test       XTests.Cases/testA at Tests/X.swift:3
        ::warning title=Leak check incomplete::100%25 of it, a:b
        undead: 2 leaks (3 objects, 96 bytes), 1 suspect, 0 known, 0 suppressed, check incomplete

        """)
  }

  @Test func namesOfTestsCannotEndAProperty() {
    var report = report
    report.leaks[0].test?.name = "reads(from:, to:)"
    #expect(
      GitHubRenderer.render(report, options: options).contains("title=Leak in XTests.Cases/reads(from%3A%2C to%3A)::"))
  }

  @Test func filesOutsideOfTheRepositoryAreNotAnnotated() {
    let text = GitHubRenderer.render(report, options: TextOptions())
    #expect(!text.contains("file="))
    var report = report
    report.leaks[0].allocation.frames[0].file = "/repo/.build/checkouts/x/App.swift"
    #expect(GitHubRenderer.render(report, options: options).contains("file=Tests/X.swift,line=3"))
  }

  @Test func noLeaksIsOnePassedTestCase() {
    let report = LeakReport(process: .init(path: "/opt/App"))
    let text = JUnitRenderer.render(report)
    #expect(text.contains("<testsuite name=\"undead\" tests=\"1\" failures=\"0\" errors=\"0\""))
    #expect(text.contains("<testcase classname=\"undead\" name=\"App\" time=\"0\"/>"))
  }

  @Test func anIncompleteCheckIsAnError() {
    var report = LeakReport(process: .init(path: "/opt/App"))
    report.summary.complete = false
    report.summary.notes = ["no check was made: <why>"]
    let text = JUnitRenderer.render(report)
    #expect(text.contains("errors=\"1\""))
    #expect(text.contains("type=\"incomplete\">note: no check was made: &lt;why&gt;</error>"))
  }

  @Test func xmlHasNoControlCharacters() throws {
    let hostile = "a\u{1}b\u{0}\u{1B}[1m]]>&\"'<\r\n\t\u{FFFE}\u{85}é"
    #expect(XMLText.content(hostile) == "ab[1m]]&gt;&amp;\"'&lt;\n\té")
    #expect(XMLText.attribute(hostile) == "ab[1m]]&gt;&amp;&quot;'&lt;&#10;&#9;é")
  }
}
