import Testing
import UndeadHostileSamples
import UndeadReport
import UndeadSystem

@testable import UndeadPage

/// The page of a leak report.
@Suite struct ReportPageTests {
  @Test func findingsOfEachKind() throws {
    var options = ReportTextOptions()
    options.directory = "/app"
    let page = ReportPage.render(SampleReport.full, options: options)
    _ = try StrictHTML(page)
    try Golden.expect(Golden.content(page), "report.html")
  }

  @Test func nothingFound() throws {
    let page = ReportPage.render(LeakReport(process: .init(path: "/app/App", pid: 7)))
    _ = try StrictHTML(page)
    try Golden.expect(Golden.content(page), "nothing.html")
  }

  @Test func noStacks() throws {
    var options = ReportTextOptions(stacks: false)
    options.directory = "/app"
    let elements = try StrictHTML(ReportPage.render(SampleReport.full, options: options)).elements
    #expect(!elements.contains { $0.attributes["class"] == "stack" })
  }

  @Test func stacksAndNotesAreFolded() throws {
    let libraries = ["reabstraction thunk", "_dispatch_lane_barrier_sync_invoke_and_complete"].map {
      Frame(symbol: $0, module: "libdispatch.so", system: true)
    }
    let api = Frame(symbol: "Dispatch.DispatchQueue.sync(execute:)", module: "libswiftDispatch.so", system: true)
    let own = ["closure #1 in App.run()", "App.run()"].map {
      Frame(symbol: $0, file: "/app/main.swift", line: 3, module: "App")
    }
    let stack = Backtrace(frames: [own[0]] + libraries + [api, own[1]])
    var report = LeakReport(leaks: [Leak(signature: "1", kind: .unreferenced, totalBytes: 8, allocation: stack)])
    report.summary.notes = (1...5).map { "process \($0) was not checked: it was killed" }
    let page = ReportPage.render(report)
    _ = try StrictHTML(page)
    #expect(page.contains("<summary>2 frames of Dispatch</summary>"))
    #expect(page.contains("5 processes were not checked: they were killed (1, 2, 3 and 2 more)"))
    #expect(!page.contains("process 4 was"))
  }

  @Test(arguments: [
    "</script><script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onload='alert(1)", "&lt;b&gt;&amp;",
    "<!--", "]]>", "`<b>`", "a\u{0}b\u{1B}[31m", "\u{202E}gpj.exe", "javascript:alert(1)", "{{name}}", "\u{FFFE}", "",
  ])
  func textsAreNoMarkup(_ text: String) throws {
    let page = ReportPage.render(SampleReport.hostile(text))
    let markup = try StrictHTML(page)
    let plain = try StrictHTML(ReportPage.render(SampleReport.hostile("App.Name")))
    // The attack has changed neither the elements nor what they are called.
    let names = Set(plain.elements.map(\.name))
    #expect(markup.elements.allSatisfy { names.contains($0.name) })
    #expect(markup.elements.count { $0.name == "script" } == 1)
    let keys = Set(plain.elements.flatMap(\.attributes.keys))
    #expect(Set(markup.elements.flatMap(\.attributes.keys)).subtracting(keys).isEmpty)
    #expect(markup.elements.allSatisfy { $0.attributes["href"]?.hasPrefix("#") ?? true })
    #expect(!page.unicodeScalars.contains { $0 != "\n" && VisibleText.isHidden($0) })
  }

  @Test func loadsNothing() throws {
    let page = ReportPage.render(SampleReport.full)
    for word in ["http://", "https://", "src=", "@import", "url(/", "fetch(", "XMLHttpRequest", "eval("] {
      #expect(!page.contains(word), "\(word)")
    }
    let markup = try StrictHTML(page)
    let policy = markup.elements.first { $0.attributes["http-equiv"] == "Content-Security-Policy" }
    let nonce = try #require(markup.elements.first { $0.name == "script" }?.attributes["nonce"])
    #expect(policy?.attributes["content"]?.contains("default-src &#39;none&#39;") == true)
    #expect(policy?.attributes["content"]?.contains("nonce-\(nonce)") == true)
    let other = try StrictHTML(ReportPage.render(LeakReport()))
    #expect(other.elements.first { $0.name == "script" }?.attributes["nonce"] != nonce)
  }

  @Test func linksLeadSomewhere() throws {
    var report = SampleReport.full
    report.leaks += report.leaks
    let elements = try StrictHTML(ReportPage.render(report)).elements
    let names = elements.compactMap { $0.attributes["id"] }
    #expect(Set(names).count == names.count, "an id occurs twice")
    for link in elements.compactMap({ $0.attributes["href"] }) {
      #expect(names.contains(String(link.dropFirst())), "\(link)")
    }
    for row in elements.compactMap({ $0.attributes["data-for"] }) { #expect(names.contains(row)) }
  }

  @Test func manyFindingsAreFolded() throws {
    var report = SampleReport.full
    report.leaks = (0..<30).map { number in
      var leak = SampleReport.pair
      leak.signature = "s\(number)"
      leak.cycle?[1].field = "owner\(number).delegate"
      return leak
    }
    let page = ReportPage.render(report)
    let articles = page.split(separator: "<article").dropFirst().filter { $0.contains("id=\"leak-") }
    #expect(articles.count == 30)
    #expect(articles.count { $0.contains("tabindex=\"-1\"><details open>") } == 20)
  }

  /// One field is to blame for all of them: one article, in which none is missing.
  @Test func findingsOfOneCulpritStandTogether() throws {
    var report = SampleReport.full
    report.leaks = (0..<7).map { number in
      var leak = SampleReport.pair
      leak.signature = "s\(number)"
      leak.cycle?[0].type = "App.Owner<App.T\(number)>"
      return leak
    }
    let page = ReportPage.render(report)
    _ = try StrictHTML(page)
    #expect(page.split(separator: "<article").count { $0.contains(" id=\"leak-") } == 1)
    #expect(page.contains("6 more groups for which the same is to blame"))
    for number in 0..<7 { #expect(page.contains("App.Owner&lt;App.T\(number)&gt;")) }
  }

  @Test func samePageForTheSameReport() {
    #expect(ReportPage.render(SampleReport.full) == ReportPage.render(SampleReport.full))
  }
}
