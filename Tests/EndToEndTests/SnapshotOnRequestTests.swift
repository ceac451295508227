import Foundation
import Testing
import UndeadTestSupport

/// Snapshots of a program that runs on.
@Suite struct SnapshotOnRequestTests {
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

  /// Without a limit a share is of the machine's memory, here of one that is nearly full.
  @Test func memoryPassesItsMark() async throws {
    try await Tool.gate.pass {
      let program = try #require(Program.all(in: "Requests").first { $0.configuration == .release })
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let proc = directory.url.appending(path: "root/proc")
      try FileManager.default.createDirectory(at: proc, withIntermediateDirectories: true)
      try "MemTotal: 1000000000 kB\nMemAvailable: 100000000 kB\n"
        .write(to: proc.appending(path: "meminfo"), atomically: true, encoding: .utf8)
      let heap = directory.path("shop.undead")
      let outcome = try await runShell(
        """
        \(quoted(Tool.ofTests)) run --exit-code 0 --output /dev/null --snapshot-at 80% --snapshot-every 300ms \
          --snapshot-keep 2 --heap \(quoted(heap)) \
          --on-finding \(quoted("cd '\(directory.url.path)'; cat > \"$UNDEAD_FINDING_HEAP.json\"")) -- \(quoted(built.executable.path)) \(quoted(directory.url.path)) &
        tool=$!
        while ! [ -s \(quoted(heap)).4 ] && kill -0 $tool; do sleep 0.01; done
        : > \(quoted(directory.path("stop")))
        wait $tool
        """, environment: ["UNDEAD_TEST_CGROUP_ROOT": directory.path("root")])
      #expect(outcome.output == "interruptions 0\n")
      #expect(outcome.ending == .exit(0))
      #expect(outcome.errors.contains("90% of the"))
      #expect(outcome.errors.contains("the heap is in '\(heap).1'"))
      // The newest two are kept, and the one of the end.
      let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path).filter {
        $0.hasPrefix("shop")
      }
      #expect(
        names.filter { !$0.hasSuffix("json") }.count == 3 && names.contains("shop.undead")
          && !names.contains("shop.undead.1"), "\(names)")
      // The command has had a report for each of them.
      let first = try JSONDecoder().decode(ReportFile.self, from: Data(directory.contents("shop.undead.1.json").utf8))
      #expect(first.leaks.first?.count == 5)
      let shown = try await runShell("exec \(quoted(Tool.releasePath)) heap \(quoted(heap))")
      #expect(shown.ending == .exit(0) && shown.output.contains("live blocks"))
    }
  }
}
