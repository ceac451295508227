import Foundation
import RunLoopScenarios
import Testing
import ToolRunner
import UndeadReport
import UndeadRunLoop

/// Every scenario about timers under the tool: the report must give the verdict of the table.
@Suite(.timeLimit(.minutes(20))) struct RunLoopScenarioReportTests {
  @Test(arguments: RunLoopScenario.all)
  func verdict(_ scenario: RunLoopScenario) async throws {
    let (status, report) = try await ToolRunner.run(["run", "\(scenario.number)"])
    #expect(report.summary.complete)
    #expect(report.zombies.isEmpty)
    if scenario.verdict.ownerLives {
      try check(report, scenario.verdict)
      #expect(status == 23)
    } else {
      #expect(report.leaks.isEmpty)
      #expect(report.suspects.isEmpty)
      #expect(status == 0)
    }
    checkDiagnostics(report, scenario.verdict)
  }

  private func check(_ report: LeakReport, _ verdict: RunLoopScenario.Verdict) throws {
    #expect(report.leaks.count == 1)
    let leak = try #require(report.leaks.first)
    #expect(leak.kind == .abandoned)
    #expect(leak.count == 1)
    #expect(leak.objects.map(\.type) == ["RunLoopScenarios.Owner"])
    #expect(leak.scope?.name == "screen")
    let path = text(try #require(leak.retainPath))
    var rest = path[...]
    for piece in verdict.path {
      let place = try #require(rest.range(of: piece), "\(piece) is not in its place in: \(path)")
      rest = rest[place.upperBound...]
    }
    // What an owner holds back makes it a suspect also without its scope.
    let suspects = report.suspects.filter { $0.objects.map(\.type) == ["RunLoopScenarios.Owner"] }
    #expect(suspects.count == report.suspects.count)
    let holdsBack = !(leak.cycle ?? []).isEmpty || !suspects.isEmpty
    #expect(holdsBack == verdict.holdsBack)
  }

  /// "run loop "main" -> mode default -> timer "poll" -> target: Owner"
  private func text(_ path: [LeakReport.PathStep]) -> String {
    var parts: [String] = []
    for (step, next) in zip(path, path.dropFirst()) {
      if let root = step.root { parts.append("\(root.kind == "runLoop" ? "run loop" : root.kind) \"\(root.name)\"") }
      if let mode = step.mode { parts.append("mode \(mode)") }
      if let item = step.item { parts.append(item + ((step.name ?? "").isEmpty ? "" : " \"\(step.name ?? "")\"")) }
      let closure = step.closure.map { $0.symbol + (step.captures.map { " captures \($0)" } ?? "") }
      let target = next.type.split(separator: ".").last.map(String.init) ?? ""
      parts.append("\(step.field): " + (closure.map { "\($0) -> " } ?? "") + target)
    }
    return parts.joined(separator: " -> ")
  }

  private func checkDiagnostics(_ report: LeakReport, _ verdict: RunLoopScenario.Verdict) {
    let told = Set(report.diagnostics.map(\.kind))
    for kind in verdict.diagnostics {
      #expect(told.contains(kind.rawValue), "\(kind) is not in the report: \(report.summary.notes)")
    }
    if verdict.diagnostics.isEmpty {
      // A busy machine may make callbacks slow; nothing else may be reported.
      #expect(told.isSubset(of: ["lateFire", "loopBlocked", "framesDropped"]), "\(report.diagnostics)")
    }
  }

  @Test func wrongThreadCallsAreToldWithBothBacktraces() async throws {
    let (_, report) = try await ToolRunner.run(["run", "24"])
    let diagnostic = try #require(report.diagnostics.first { $0.kind == "invalidatedOffThread" })
    #expect(diagnostic.backtrace?.frames.contains { $0.symbol.contains("RunLoopScenario") } == true)
    let creation = try #require(diagnostic.backtraces?.first { $0.role == "creation" })
    #expect(creation.frames.contains { $0.symbol.contains("RunLoopScenario") })
  }

  @Test func lateFiresNameTheCulpritWithWhatItDid() async throws {
    let (_, report) = try await ToolRunner.run(["run", "25"])
    let late = try #require(report.diagnostics.first { $0.kind == "lateFire" })
    #expect(late.message.contains("timer \"victim\" fired"))
    #expect(late.message.contains("timer \"slow\" ran for"))
    let blocked = try #require(report.diagnostics.first { $0.kind == "loopBlocked" })
    #expect(blocked.backtrace?.frames.contains { $0.symbol.contains("takeLong") } == true)
  }
}
