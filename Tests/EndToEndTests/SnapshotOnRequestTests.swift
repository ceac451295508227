import Foundation
import Testing
import UndeadTestSupport

/// Snapshots of a program that runs on.
@Suite(.timeLimit(.minutes(20))) struct SnapshotOnRequestTests {
  @Test(arguments: Program.selected(in: "Requests"))
  func signalToTheTool(_ program: Program) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let report = directory.path("report.json")
      let outcome = try await runShell(
        """
        await() { while ! [ -s "$1" ] && kill -0 $tool; do sleep 0.01; done; }
        \(quoted(Tool.path)) run --snapshot-signal USR1 --format json --output \(quoted(report)) -- \
          \(quoted(built.executable.path)) \(quoted(directory.url.path)) &
        tool=$!
        while ! [ -e \(quoted(directory.path("ready"))) ] && kill -0 $tool; do sleep 0.01; done
        kill -USR1 $tool; await \(quoted(report + ".1"))
        kill -USR1 $tool; await \(quoted(report + ".2"))
        : > \(quoted(directory.path("stop")))
        wait $tool
        """)
      #expect(outcome.output == "interruptions 0\n")
      #expect(outcome.errors == "")
      #expect(outcome.ending == .exit(23))
      for (name, count) in [("report.json.1", 5), ("report.json.2", 5), ("report.json", 7)] {
        let report = try JSONDecoder().decode(ReportFile.self, from: Data(directory.contents(name).utf8))
        #expect(built.judge.complaints(about: report) == [])
        #expect(report.leaks.first?.count == count, "\(name)")
      }
    }
  }
}
