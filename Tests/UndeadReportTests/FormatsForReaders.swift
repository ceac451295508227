import Foundation
import Testing

@testable import UndeadFormats
@testable import UndeadReport

/// Where reports go; nil for nowhere.
private let formatsForReaders = ProcessInfo.processInfo.environment["UNDEAD_FORMATS"]

/// Writes reports for CI systems that `scripts/check/formats` reads with programs of others.
@Suite(.enabled(if: formatsForReaders != nil)) struct FormatsForReaders {
  private func write(_ report: LeakReport, _ name: String) throws {
    let directory = URL(filePath: try #require(formatsForReaders))
    var options = ReportTextOptions()
    options.directory = "/re po"
    func write(_ data: Data, _ ending: String) throws {
      try data.write(to: directory.appending(path: "\(name).\(ending)"))
    }
    try write(SARIFRenderer.render(report, options: options), "sarif")
    try write(GitLabRenderer.render(report, options: options), "gitlab.json")
    try write(Data(JUnitRenderer.render(report, options: options).utf8), "junit.xml")
    try write(Data(MarkdownRenderer.render(report, options: options).utf8), "md")
    try write(Data(GitHubRenderer.render(report, options: options).utf8), "github.txt")
  }

  private func frame(_ symbol: String, _ file: String? = nil, _ line: Int? = nil) -> Frame {
    Frame(symbol: symbol, file: file, line: line, module: file == nil ? "libc.so.6" : "App", system: file == nil)
  }

  /// A report of every kind of finding; each name has the given text in it.
  private func full(_ text: String) -> LeakReport {
    let stack = Backtrace(frames: [
      frame("malloc"), frame("App.make(\(text))", "/re po/Sources/App\(text.prefix { $0 != "\0" }).swift", 7),
      frame("main", "/elsewhere/main.swift", 3),
    ])
    let object = LeakedObject(type: "App.Box<\(text)>", address: "0x1000", size: 32)
    let reference = Reference(
      type: "App.Box<\(text)>", field: "items[3].\(text)", fieldType: "() -> ()",
      closure: frame("closure #1 in \(text)", "/re po/Sources/Closure.swift", 4), captures: "self")
    let test = TestIdentity(
      name: "test(\(text))", suite: "XTests.\(text)", library: "Testing", file: "/re po/Tests/X.swift", line: 3)
    var kinds: [Leak] = []
    for (number, kind) in [Leak.Kind.retainCycle, .unreferenced, .abandoned].enumerated() {
      var leak = Leak(
        signature: "1\(number)", kind: kind, count: 2, totalBytes: 64, objects: [object], allocation: stack,
        advice: "do \(text)", test: number == 0 ? nil : test)
      if kind == .retainCycle { leak.cycle = [reference] }
      if kind == .abandoned {
        leak.retainPath = [
          PathStep(root: .init(kind: "global", name: text), type: "App.Store", field: text),
          PathStep(type: "App.Box<\(text)>", field: ""),
        ]
        leak.scope = .init(name: text, backtrace: stack)
      }
      kinds.append(leak)
    }
    var report = LeakReport(
      process: .init(path: "/re po/.build/\(text.prefix { $0 != "\0" })", startedAt: "2026-01-02T03:04:05.600Z"),
      leaks: kinds,
      suspects: [
        Suspect(
          kind: .timer, signature: "3", totalBytes: 16, objects: [object],
          retainPath: [PathStep(root: .init(kind: "runLoop", name: text), type: "App.Timer", field: "target")],
          allocation: stack, test: test)
      ],
      zombies: [
        Zombie(
          kind: "method", type: "App.Z", message: "\(text) was called", address: "0x1", thread: text, signature: "z1",
          allocation: stack, deallocation: stack, access: stack)
      ],
      diagnostics: [Diagnostic(kind: "lateTimer", message: text, details: [text: text], backtrace: stack)])
    report.summary.notes = [text]
    report.updateCounts()
    return report
  }

  @Test func everyKind() throws { try write(full("Kind"), "full") }

  @Test func hostile() throws {
    try write(full("a|b`c```d*e_f[g](h)<i>&\"'{0}%0A::error::é\u{1}\u{1B}[1m]]>\r\n@x,y:z\\"), "hostile")
  }

  @Test func nothing() throws { try write(LeakReport(process: .init(path: "/opt/App")), "nothing") }

  @Test func incomplete() throws {
    var report = LeakReport(process: .init(path: "/opt/App"))
    report.summary.complete = false
    report.summary.notes = ["no check was made: why"]
    try write(report, "incomplete")
  }

  @Test func many() throws {
    var report = full("Kind")
    for number in 0..<400 {
      var leak = report.leaks[0]
      leak.signature = "m\(number)"
      leak.cycle = [Reference(type: "App.Node\(number)", field: "handler\(number)")]
      report.leaks.append(leak)
    }
    report.updateCounts()
    try write(report, "many")
  }
}
