import Foundation
import Testing
import UndeadTestSupport

/// Programs that bring another allocator: the same reports, and the allocator does what it promises.
@Suite struct AllocatorTests {
  struct Allocator: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let path: String
    /// The condition under which `own-functions.swift` calls it directly.
    var flag: String?

    static let all = [
      ("jemalloc", "libjemalloc.so.2", "JEMALLOC"), ("mimalloc", "libmimalloc.so.2.0", "MIMALLOC"),
      ("tcmalloc", "libtcmalloc_minimal.so.4", nil),
    ].map { name, file, flag in
      let folders = ["/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib"]
      let paths = folders.map { "\($0)/\(file)" }
      let path = paths.first { FileManager.default.fileExists(atPath: $0) } ?? ""
      return Allocator(testDescription: name, path: path, flag: flag)
    }
    static let installed = all.filter { !$0.path.isEmpty }
  }

  static let comment: Comment =
    "libjemalloc2, libmimalloc2.0 and libtcmalloc-minimal4 are not installed: scripts/setup --test"

  /// Of each kind of program some; `UNDEAD_ALLOCATOR_CORPUS=1` takes the whole corpus.
  static let programs: [Program] = {
    let everything = ProcessInfo.processInfo.environment["UNDEAD_ALLOCATOR_CORPUS"] != nil
    let some = [
      "all-functions", "actors", "through-closures", "through-collections", "leak-in-forked-child",
      "unreferenced", "removed-elements", "server-like", "memory-from-sbrk", "mapped-memory",
      "forked-child", "storage-behind-objects", "threads-not-joined", "unreadable-memory",
    ]
    return ["Allocators", "Leaks", "Controls"].flatMap { Program.selected(in: $0) }.filter { program in
      program.name != "own-functions" && (everything || some.contains(program.variant ?? program.name))
    }
  }()

  @Test(.enabled(if: !Allocator.installed.isEmpty, comment), arguments: Allocator.installed)
  func sameReports(_ allocator: Allocator) async throws {
    for program in Self.programs {
      try await Tool.gate.pass {
        let built = try await program.build()
        let (outcome, data) = try await built.runUnderTool(environment: ["LD_PRELOAD": allocator.path])
        guard built.expectation.check == .report else { return }
        let report = try JSONDecoder().decode(
          ReportFile.self, from: try #require(data, "\(program): \(outcome.errors)"))
        #expect(report.summary.complete, "\(program)")
        if program.name == "all-functions" { #expect(outcome.output == "well\n") }
        // Blocks without headers between them: the address behind one block may be a stale one of the next. tcmalloc hands
        // out small blocks in the order in which that happens.
        if allocator.testDescription == "tcmalloc" {
          #expect(!report.leaks.isEmpty == (outcome.ending == .exit(23)), "\(program)")
          if program.source.path.contains("/Controls/") { #expect(report.leaks.isEmpty, "\(program)") }
          if program.name == "all-functions" { #expect(report.leaks.map { (5...8).contains($0.count) } == [true]) }
        } else {
          #expect(built.judge.complaints(about: report) == [], "\(program)")
        }
      }
    }
  }

  /// Linked, and called by the names that only it has.
  @Test(.enabled(if: !Allocator.installed.isEmpty, comment), arguments: Allocator.installed.filter { $0.flag != nil })
  func ownFunctions(_ allocator: Allocator) async throws {
    let program = try #require(Program.all(in: "Allocators").first { $0.name == "own-functions" })
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let executable = directory.path("program")
      let built = try await runShell(
        "swiftc -module-name App -g -O -D \(allocator.flag!) \(quoted(program.source.path)) "
          + "-Xlinker \(quoted(allocator.path)) -o \(quoted(executable))")
      #expect(built.ending == .exit(0), "\(built.errors)")
      let outcome = try await runShell(
        "exec \(quoted(Tool.releasePath)) run --format json --output \(quoted(directory.path("report.json"))) -- "
          + quoted(executable))
      #expect(outcome.output == "well\n")
      #expect(outcome.ending == .exit(23), "\(outcome.errors)")
      let report = try JSONDecoder().decode(ReportFile.self, from: Data(directory.contents("report.json").utf8))
      #expect(report.leaks.map(\.count) == [5])
    }
  }

  /// An allocator that does not show sizes cannot be recorded: the tool says so, and the program has it all the same.
  @Test func saysWhatItCannotRecord() async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      try """
      #define _GNU_SOURCE
      #include <dlfcn.h>
      #include <stddef.h>
      #include <unistd.h>
      static size_t calls;
      void *malloc(size_t size) { calls++; return ((void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"))(size); }
      __attribute__((destructor)) static void tell(void) { if (calls) write(1, "counted\\n", 8); }
      """.write(to: directory.url.appending(path: "count.c"), atomically: true, encoding: .utf8)
      let (source, library) = (directory.path("count.c"), directory.path("libcount.so"))
      let compiled = try await runShell("cc -shared -fPIC \(quoted(source)) -o \(quoted(library))")
      #expect(compiled.ending == .exit(0), "\(compiled.errors)")
      let program = try #require(Program.all(in: "Leaks").first { $0.name == "actors" })
      let built = try await program.build()
      let (outcome, _) = try await built.runUnderTool(environment: ["LD_PRELOAD": library])
      #expect(outcome.output.contains("counted"))
      #expect(outcome.errors.contains("libcount.so") && outcome.errors.contains("how large its blocks are"))
      #expect(outcome.ending == .exit(70))
    }
  }
}
