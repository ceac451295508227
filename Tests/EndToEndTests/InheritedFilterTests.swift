import Foundation
import Testing
import UndeadTestSupport

/// Filters of system calls that the tool is under, too, as those of Docker and systemd: what it starts is checked.
@Suite struct InheritedFilterTests {
  @Test(arguments: ["fail", "kill"], ["Leaks/actors", "Controls/odd-memory"])
  func programsAreChecked(answer: String, path: String) async throws {
    try await Tool.gate.pass {
      let folder = String(path.prefix { $0 != "/" })
      let program = try #require(
        Program.all(in: folder).first { "\(folder)/\($0.name)" == path && $0.configuration == .debug })
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let source = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
      let compiled = try await runShell(
        "clang \(quoted("\(source)/Programs/Support/under-a-filter.c")) -o \(quoted(directory.path("launcher")))")
      try #require(compiled.ending == .exit(0), "\(compiled.errors)")
      let words = [
        directory.path("launcher"), answer, Tool.path, "run", "--format", "json", "--output", directory.path("report"),
        "--", built.executable.path,
      ]
      let outcome = try await runShell(words.map(quoted).joined(separator: " "))
      #expect(outcome.ending == .exit(folder == "Leaks" ? 23 : 0), "\(outcome.errors)")
      let data = try Data(contentsOf: URL(fileURLWithPath: directory.path("report")))
      let report = try JSONDecoder().decode(ReportFile.self, from: data)
      #expect(built.judge.complaints(about: report).isEmpty)
    }
  }
}
