import Foundation
import Testing
import UndeadReport
import UndeadTestSupport

/// A program that links the instrument and shows it facts, under the tool: its own copy is in charge then.
@Suite struct LinkedTests {
  @Test func factsOfALinkedCopyAreReported() async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      try await copyInstrument(into: directory)
      for (configuration, library) in Program.Configuration.allCases.flatMap({ [($0, "*.o"), ($0, "./libown.so")] }) {
        try await link(in: directory, configuration, library)
        let file = directory.path("report.json")
        let outcome = try await runShell(
          "\(quoted(Tool.path)) run --format json --output \(quoted(file)) -- \(quoted(directory.path("facts")))")
        #expect(outcome.output == "added true\n")
        #expect(outcome.ending == .exit(23), "\(configuration), \(library): \(outcome.errors)")
        check(try JSONRenderer.parse(Data(contentsOf: URL(fileURLWithPath: file))))
      }
      try await checkHowTheTableIsFound(in: directory)
    }
  }

  /// What does not link the instrument finds it in the program, in whatever way it came there.
  private func checkHowTheTableIsFound(in directory: TemporaryDirectory) async throws {
    let program = """
      #include "undead_instrument.h"
      #include <stdio.h>
      #include <unistd.h>
      #ifdef USES
      #include "undead.h"
      #endif
      int main(int count, char **words) {
      #ifdef USES
        if (!undead_version()) return 1;
      #endif
        const undead_instrument *found = undead_find_instrument();
        printf("%s %s", found ? "found" : "absent", found && found->is_active() ? "active" : "idle");
        fflush(stdout);
        if (count > 1) pause();
      }
      """
    try program.write(toFile: directory.path("finds.c"), atomically: true, encoding: .utf8)
    // The one who asks stands first: a weak reference takes nothing out of the archives that follow.
    try await build(
      """
      cd \(quoted(directory.url.path)) && mkdir asks && mv *CUndeadInterface*find.c.o asks/find.o &&
      ar rcs libinstrument.a *.o && clang -fPIC -shared *.o -o libinstrument.so -ldl -lpthread &&
      link() { clang -O1 \(InstrumentSources.interfaceOptions.map(quoted).joined(separator: " ")) finds.c asks/find.o "$@"; } &&
      link -o without &&
      link -DUSES libinstrument.a -ldl -lpthread -o archived &&
      link -Wl,--no-as-needed -L. -linstrument -Wl,-rpath,\(quoted(directory.url.path)) -o shared
      """)
    let preload = try BuildProducts.preloadLibrary()
    let expected = [
      ("./without", "absent idle"), ("env UNDEAD=1 ./without", "absent idle"),
      ("env LD_PRELOAD=\(quoted(preload)) UNDEAD=1 ./without", "found active"),
      ("./archived", "found idle"), ("env UNDEAD=1 ./archived", "found active"),
      ("./shared", "found idle"), ("env UNDEAD=1 ./shared", "found active"),
    ]
    for (command, answer) in expected {
      let outcome = try await runShell("cd \(quoted(directory.url.path)) && exec \(command)")
      #expect(outcome.output == answer, "\(command): \(outcome.errors)")
    }
    let outcome = try await runShell(
      """
      cd \(quoted(directory.url.path)) && { ./archived and stays >stays.out & } && process=$!
      until [ -s stays.out ]; do kill -0 $process || exit 1; done
      \(quoted(Tool.path)) leaks $process; kill $process
      """)
    #expect(outcome.errors.contains("has Undead linked in"), "\(outcome.errors)")
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

  /// What packages that link the instrument get, as it was built with the tests.
  private func copyInstrument(into directory: TemporaryDirectory) async throws {
    let files = InstrumentSources.Layer.allCases.flatMap(\.objects)
    try await build(
      """
      cd \(quoted(directory.url.path)) &&
      for file in \(files.map(quoted).joined(separator: " ")); do cp $file $(echo $file | tr / _) || exit; done
      """)
  }

  /// `library`: the instrument's objects, or a library of the program's own with them in it. Then the preloaded one, which
  /// comes before it, is in charge.
  private func link(
    in directory: TemporaryDirectory, _ configuration: Program.Configuration, _ library: String
  ) async throws {
    let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().path
    try await build(
      """
      cd \(quoted(directory.url.path)) && clang -shared *.o -o libown.so -ldl -lpthread &&
      swiftc \(configuration.flags.joined(separator: " ")) -module-name App \
        \(InstrumentSources.interfaceOptions.map(quoted).joined(separator: " ")) \
        -import-objc-header \(quoted(InstrumentSources.interface + "/undead_facts.h")) \
        \(quoted(tests + "/Programs/Linked/facts.swift")) \(library) \
        -Xlinker -rpath -Xlinker \(quoted(directory.url.path)) -o facts
      """)
  }

  private func build(_ commands: String) async throws {
    let outcome = try await runShell(commands, deadline: .seconds(300))
    guard outcome.ending == .exit(0) else { throw ChildError(description: outcome.errors + outcome.output) }
  }
}
