import Foundation
import Testing
import UndeadHeap
import UndeadTestSupport

/// Heap files of programs that know their own graph.
@Suite struct HeapGraphTests {
  @Test(arguments: Program.selected(in: "Heaps"))
  func isWhatTheProgramKnows(_ program: Program) async throws {
    let seeds = program.name == "random-graph" ? ["1", "2", "3"] : ["0"]
    try await Tool.gate.pass {
      let built = try await program.build()
      let tool = program.configuration == .release ? Tool.releasePath : Tool.path
      for seed in seeds {
        let directory = try TemporaryDirectory()
        let file = directory.path("heap.undead")
        let outcome = try await runShell(
          "\(quoted(tool)) run --exit-code 0 --heap \(quoted(file)) -- \(quoted(built.executable.path)) \(seed)")
        #expect(outcome.ending == .exit(0), "\(outcome.errors)")
        #expect(outcome.output.hasSuffix("\n"))
        #expect(try HeapFile(path: file).residentBytes > 1 << 20)
        let complaints = try HeapJudge(file).complaints(about: outcome.output)
        #expect(complaints.isEmpty, "seed \(seed): \(complaints.joined(separator: "\n"))")
      }
    }
  }
}
