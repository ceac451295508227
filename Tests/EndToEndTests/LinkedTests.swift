import Foundation
import Testing
import UndeadReport
import UndeadTestSupport

/// A program that links the instrument and tells it facts, under the tool: its own copy is in charge then.
@Suite(.timeLimit(.minutes(20))) struct LinkedTests {
  @Test func factsOfALinkedCopyAreReported() async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      try await compileInstrument(into: directory)
      for configuration in Program.Configuration.allCases {
        try await link(in: directory, configuration)
        let file = directory.path("report.json")
        let outcome = try await runShell(
          "\(quoted(Tool.path)) run --format json --output \(quoted(file)) -- \(quoted(directory.path("facts")))")
        #expect(outcome.output == "added true\n")
        #expect(outcome.ending == .exit(23), "\(configuration): \(outcome.errors)")
        check(try JSONRenderer.parse(Data(contentsOf: URL(fileURLWithPath: file))))
      }
    }
  }

  private func check(_ report: LeakReport) {
    let byScope = Dictionary(report.leaks.map { ($0.scope?.name ?? "", $0) }) { first, _ in first }
    #expect(byScope.keys.sorted() == ["cached", "cyclic", "timed"])
    #expect(byScope["cached"]?.kind == .abandoned)
    #expect(byScope["cached"]?.retainPath?.first?.root?.kind == "global")
    #expect(byScope["cached"]?.retainPath?.map(\.field) == ["entries[value]", ""])
    #expect(byScope["cyclic"]?.kind == .retainCycle)
    #expect(byScope["timed"]?.kind == .abandoned)
    let held = byScope["timed"]?.retainPath?.first
    #expect(held?.root == PathStep.Root(kind: "runLoop", name: "main"))
    #expect(held?.field == "target")
    #expect(held?.name == "poll")
    #expect(report.suspects.isEmpty)
    #expect(report.summary.complete)
    #expect(report.summary.notes.contains("told by the program"))
    #expect(report.runLoops?["loops"]?.elements.count == 1)
  }

  private func compileInstrument(into directory: TemporaryDirectory) async throws {
    let files = InstrumentSources.Layer.allCases.flatMap(\.files).map(quoted).joined(separator: " ")
    let includes = InstrumentSources.includeOptions.map(quoted).joined(separator: " ")
    try await build(
      """
      cd \(quoted(directory.url.path)) &&
      for file in \(files); do
        clang -O1 -c \(includes) $file -o $(echo $file | tr / _).o || exit
      done
      """)
  }

  private func link(in directory: TemporaryDirectory, _ configuration: Program.Configuration) async throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    try await build(
      """
      cd \(quoted(directory.url.path)) &&
      swiftc \(configuration.flags.joined(separator: " ")) -module-name App \
        -import-objc-header \(quoted(InstrumentSources.interface + "/undead_facts.h")) \
        \(quoted(tests + "/Programs/Linked/facts.swift")) *.o -o facts
      """)
  }

  private func build(_ commands: String) async throws {
    let outcome = try await runShell(commands, deadline: .seconds(300))
    guard outcome.ending == .exit(0) else { throw ChildError(description: outcome.errors + outcome.output) }
  }
}
