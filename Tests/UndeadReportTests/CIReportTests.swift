import Foundation
import Testing

@testable import UndeadFormats
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

  private var options: ReportTextOptions {
    var options = ReportTextOptions()
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
              ^^^^^

          allocated  in App.make() at Sources/App.swift:7

          stack of the allocation:
            #0  App.make() at Sources/App.swift:7
            #1  XTests.Cases.testA() at Tests/X.swift:3
        </failure>
              <system-out>SUSPECT  App.Box&lt;A &amp; B&gt; held only by a timer that it holds itself  (16 bytes)

            App.Box&lt;A &amp; B&gt;

          allocated  in App.make() at Sources/App.swift:7

          stack of the allocation:
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
        (1 object, 32 bytes)%0A%0A    App.Box<A & B>%0A      .next → App.Box<A & B>  ↺%0A      ^^^^^%0A%0A  \
        allocated  in App.make() at Sources/App.swift:7%0A  \
        test       XTests.Cases/testA at Tests/X.swift:3
        ::warning file=Sources/App.swift,line=7,title=Suspect in XTests.Cases/testA::SUSPECT  App.Box<A & B> held only by \
        a timer that it holds itself  (16 bytes)%0A%0A    App.Box<A & B>%0A%0A  allocated  in App.make() at \
        Sources/App.swift:7%0A  test       XTests.Cases/testA at Tests/X.swift:3
        ::warning title=Leak check incomplete::100%25 of it, a:b
        undead: 2 leaks (3 objects, 96 bytes), 1 suspect, check incomplete

        """)
  }

  /// Uses of dead objects come first, suspects last; no more than GitHub shows.
  @Test(arguments: [(10, true, 10), (11, true, 9), (9, false, 9), (10, false, 8)])
  func annotationsAreAtMostTen(count: Int, isComplete: Bool, shown: Int) throws {
    var report = report
    report.leaks = (0..<count - 2).map { number in
      Leak(
        signature: "\(number)", kind: .unreferenced, totalBytes: 1000 - number,
        objects: [LeakedObject(type: "App.N\(number)", address: "0x1000", size: 32)])
    }
    report.zombies = [
      Zombie(kind: "method", type: "App.Z", message: "App.Z.tick() was called", address: "0x1", thread: "main")
    ]
    report.summary.complete = isComplete
    let lines = GitHubRenderer.render(report, options: options).split(separator: "\n").dropLast()
    #expect(lines.count { $0.hasPrefix("::") } == lines.count && lines.count <= 10, "one line each")
    #expect(lines[0].hasPrefix("::error title=Zombie::zombie: App.Z.tick() was called"))
    #expect(lines[1].contains("App.N0 that nothing"))
    #expect(lines.count { !$0.hasPrefix("::notice") && !$0.contains("incomplete") } == shown)
    #expect(lines.contains { $0.contains("Suspect") } == (shown == count))
    let rest = lines.first { $0.hasPrefix("::notice title=Not all findings are shown::... and ") }
    #expect((rest != nil) == (shown < count))
    #expect(rest?.contains(", 1 more suspect (16 bytes): ") ?? true)
    #expect(lines.last?.hasPrefix("::warning title=Leak check incomplete::") == !isComplete)
  }

  @Test func lineBreaksOfTwoCharactersEndNoCommand() {
    var report = report
    report.summary.complete = false
    report.summary.notes = ["a\r\nb\rc\nd:e,f\u{301}%0A"]
    #expect(
      GitHubRenderer.render(report, options: options).contains(
        #"incomplete::a\u{D}\u{A}b\u{D}c\u{A}d:e,f"# + "\u{301}%250A\n"))
    report.leaks[0].test?.name = "a\r\nb:\u{301}"
    #expect(GitHubRenderer.render(report, options: options).contains(#"XTests.Cases/a\u{D}\u{A}b%3A"# + "\u{301}::"))
  }

  @Test func namesOfTestsCannotEndAProperty() {
    var report = report
    report.leaks[0].test?.name = "reads(from:, to:)"
    #expect(
      GitHubRenderer.render(report, options: options).contains("title=Leak in XTests.Cases/reads(from%3A%2C to%3A)::"))
  }

  @Test func filesOutsideOfTheRepositoryAreNotAnnotated() {
    let text = GitHubRenderer.render(report, options: ReportTextOptions())
    #expect(!text.contains("file="))
    var report = report
    report.leaks[0].allocation.frames[0].file = "/repo/.build/checkouts/x/App.swift"
    #expect(GitHubRenderer.render(report, options: options).contains("file=Tests/X.swift,line=3"))
  }

  @Test func gitlab() throws {
    var report = report
    report.leaks[0].advice = "declare it `weak`"
    report.suspects = []
    let text = String(decoding: try GitLabRenderer.render(report, options: options), as: UTF8.self)
    #expect(
      text == """
        [
          {
            "check_name" : "unreferenced",
            "description" : "App.Box<A & B> that nothing refers to, 2 times (2 objects, 64 bytes)",
            "fingerprint" : "c3c98e59d16e2f46",
            "location" : {
              "lines" : {
                "begin" : 1
              },
              "path" : "swift"
            },
            "severity" : "major"
          },
          {
            "check_name" : "retainCycle",
            "description" : "retain cycle of App.Box<A & B> (1 object, 32 bytes). declare it `weak`",
            "fingerprint" : "ef213b0d8b1a6fbd",
            "location" : {
              "lines" : {
                "begin" : 7
              },
              "path" : "Sources/App.swift"
            },
            "severity" : "major"
          }
        ]

        """)
  }

  @Test func markdown() {
    var report = report
    report.summary.complete = false
    #expect(
      MarkdownRenderer.render(report, options: options) == """
        ## Undead: swift: 2 leaks (3 objects, 96 bytes), 1 suspect, check incomplete

        **The check is incomplete:** what is not listed may have leaked, too.

        | | what | where | size |
        |---|---|---|---|
        | leak | App.Box&lt;A &amp; B&gt; that nothing refers to, 2 times |  | 2 objects, 64 bytes |
        | leak | retain cycle of App.Box&lt;A &amp; B&gt; | Sources/App.swift:7 | 1 object, 32 bytes |
        | suspect | App.Box&lt;A &amp; B&gt; held only by a timer that it holds itself | Sources/App.swift:7 | 16 bytes |

        <details><summary>leak: <code>App.Box&lt;A &amp; B&gt; that nothing refers to, 2 times</code></summary>

        ```text
        LEAK  App.Box<A & B> that nothing refers to, 2 times  (2 objects, 64 bytes)

          allocated  at an unknown place: no backtrace was recorded
        ```

        </details>

        <details><summary>leak: <code>retain cycle of App.Box&lt;A &amp; B&gt;</code></summary>

        ```text
        LEAK  retain cycle of App.Box<A & B>  (1 object, 32 bytes)

            App.Box<A & B>
              .next → App.Box<A & B>  ↺
              ^^^^^

          allocated  in App.make() at Sources/App.swift:7
          test       XTests.Cases/testA at Tests/X.swift:3
        ```

        </details>

        <details><summary>suspect: <code>App.Box&lt;A &amp; B&gt; held only by a timer that it holds itself</code></summary>

        ```text
        SUSPECT  App.Box<A & B> held only by a timer that it holds itself  (16 bytes)

            App.Box<A & B>

          allocated  in App.make() at Sources/App.swift:7
          test       XTests.Cases/testA at Tests/X.swift:3
        ```

        </details>

        - 100% of it, a:b

        """)
  }

  @Test func markdownWithoutFindingsIsALine() {
    let report = LeakReport(process: .init(path: "/opt/My_App"))
    #expect(
      MarkdownRenderer.render(report) == "## Undead: My\\_App: no leaks\n")
  }

  @Test func markdownShowsTextAsItIs() {
    func escaped(_ text: String) -> String { Markup<MarkdownText>(text).source }
    #expect(
      escaped("a|b`c*d_e[f](g)<h>&@i #1\\\r\n$x$ <\u{301}")
        == ##"a\|b\`c\*d\_e\[f\](g)&lt;h&gt;&amp;`@`i \#1\\\\u{D}\\u{A}\$x\$ &lt;"## + "\u{301}")
    // What sites make links of.
    #expect(escaped("https://x.y, www.x.y, a@b.c, o/r#1") == "https`:`/`/`x.y, www`.`x.y, a`@`b.c, o/r`#`1")
    #expect(MarkdownText.block(["a ``` b"]).source == "````text\na ``` b\n````")
    #expect(MarkdownText.cell(String(repeating: "x", count: 301)).source.hasSuffix("xxx..."))
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
    #expect(
      Markup<XMLText>(hostile).source
        == #"a\u{1}b\u{0}\u{1B}[1m]]&gt;&amp;&quot;'&lt;\u{D}\u{A}\u{9}\u{FFFE}\u{85}é"#)
  }
}
