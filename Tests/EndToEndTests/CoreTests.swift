import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadTestSupport

/// Core files of programs that knew nothing of the tool.
@Suite struct CoreTests {
  /// The kernel writes core files into the working directory.
  static let areWritten: Bool = {
    let pattern = (try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)) ?? "|"
    return !pattern.hasPrefix("|") && !pattern.contains("/")
  }()

  static let hasDebugger = ["/usr/bin/gcore", "/usr/local/bin/gcore"].contains {
    FileManager.default.isExecutableFile(atPath: $0)
  }

  private func tool(_ program: Program) -> String { program.configuration == .release ? Tool.releasePath : Tool.path }

  private func undead(_ program: Program, _ words: String...) async throws -> Outcome {
    try await runShell("\(quoted(tool(program))) \(words.map(quoted).joined(separator: " "))")
  }

  private func heap(_ program: Program, _ input: String) async throws -> HeapReport {
    let outcome = try await undead(program, "heap", input, "--format", "json")
    #expect(outcome.ending == .exit(0), "\(outcome.errors)")
    return try JSONDecoder().decode(HeapReport.self, from: Data(outcome.output.utf8))
  }

  private func leaks(_ program: Program, _ words: String...) async throws -> LeakReport {
    let command = ([tool(program)] + words + ["--format", "json"]).map(quoted).joined(separator: " ")
    let outcome = try await runShell(command)
    #expect(outcome.ending == .exit(23), "\(outcome.errors)")
    return try JSONRenderer.parse(Data(outcome.output.utf8))
  }

  /// Has the program end, and gives the core file.
  private func crash(_ program: Program, _ way: String, in directory: TemporaryDirectory) async throws -> String {
    let built = try await program.build()
    _ = try await runShell(
      "cd \(quoted(directory.path)) && ulimit -c unlimited && SWIFT_BACKTRACE=enable=no exec \(quoted(built.executable.path)) \(way)"
    )
    let name = try FileManager.default.contentsOfDirectory(atPath: directory.path).first { $0.hasPrefix("core") }
    return directory.path(try #require(name, "no core file was written"))
  }

  /// What every core file of the program holds.
  private func check(_ program: Program, _ core: String, signal: Int?) async throws {
    let report = try await leaks(program, "leaks", core)
    #expect(report.process.signal == signal && report.summary.complete)
    let leak = try #require(report.leaks.first)
    #expect(report.leaks.count == 1 && leak.kind == .retainCycle && leak.count == 30)
    #expect(Set(leak.cycle?.map(\.field) ?? []) == ["child", "parent"])
    let rows = Dictionary(grouping: try await heap(program, core).types, by: \.type).mapValues { $0[0] }
    for (type, count) in [("Shop", 1), ("Order", 503), ("Parent", 30), ("Child", 30)] {
      #expect(rows["App.\(type)"]?.count == count, "\(type)")
    }
    let shop = try #require(rows["App.Shop"])
    // Each order has its lines: 50 numbers.
    #expect(shop.retainedBytes > 500 * 400)
  }

  @Test(
    .enabled(if: areWritten, "core files of this machine go elsewhere"), arguments: Program.selected(in: "Cores"),
    [("trap", 4 as Int?), ("fault", 11), ("abort", 6), ("overflow", 11), ("numbers", 6), ("lock", 6)])
  func whatACrashedProgramHeld(_ program: Program, _ end: (way: String, signal: Int?)) async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let core = try await crash(program, end.way, in: directory)
      try await check(program, core, signal: end.signal)
    }
  }

  /// A thread stood so many instructions behind the start of malloc, some of them where its tables do not agree.
  @Test(
    .enabled(if: areWritten, "core files of this machine go elsewhere"), arguments: Program.selected(in: "Cores"),
    [20, 60, 122, 126, 128, 200])
  func whatAThreadWasAboutInMallocIsFinished(_ program: Program, instructions: Int) async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let core = try await crash(program, "inside \(instructions)", in: directory)
      try await check(program, core, signal: 6)
    }
  }

  /// malloc's own tables were overwritten: where blocks begin is not known.
  @Test(.enabled(if: areWritten, "core files of this machine go elsewhere"), arguments: Program.selected(in: "Cores"))
  func aDamagedHeapIsNotGuessed(_ program: Program) async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let core = try await crash(program, "allocator", in: directory)
      let report = try await undead(program, "leaks", core)
      #expect(
        report.ending == .exit(64) && report.output == "" && report.errors.contains("malloc's tables do not agree"))
    }
  }

  @Test(.enabled(if: areWritten, "core files of this machine go elsewhere"), arguments: Program.selected(in: "Cores"))
  func formsAndFilesOfTheHeap(_ program: Program) async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let core = try await crash(program, "trap", in: directory)
      let saved = directory.path("saved.undead")
      let first = try await undead(program, "heap", core, "--save", saved)
      #expect(first.ending == .exit(0) && first.errors == "" && first.output.contains("App.Shop"))
      let again = try await undead(program, "heap", saved)
      #expect(again.output == first.output)
      let difference = try await undead(program, "diff", saved, core)
      #expect(difference.ending == .exit(0) && difference.errors == "", "\(difference.errors)")
      #expect(try await undead(program, "heap", core, "--format", "html").output.contains("App.Shop"))
      #expect(try await undead(program, "heap", core, "--type", "Order").output.contains(".orders[value]"))
      let wrong = try await undead(program, "heap", saved, "--save", directory.path("other"))
      #expect(wrong.ending == .exit(64) && wrong.errors.contains("--save keeps the heap of a process or a core file"))

      // Another build of the program at the same place, and the right one elsewhere.
      let moved = directory.path("moved")
      let built = try await program.build().executable.path
      _ = try await runShell("mkdir \(quoted(moved)) && cp \(quoted(built)) \(quoted(moved + "/program"))")
      let other = try await runShell(
        "cd \(quoted(directory.path)) && ulimit -c unlimited && SWIFT_BACKTRACE=enable=no exec moved/program abort")
      #expect(other.ending == .signal(6))
      try await checkBinaries(program, directory)
    }
  }

  /// What is said if the program's file is not the one that ran.
  private func checkBinaries(_ program: Program, _ directory: TemporaryDirectory) async throws {
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).filter { $0.hasPrefix("core") }
    // Patterns without a process id have overwritten the first one.
    let core = directory.path(
      try #require(try names.max { try date(directory.path($0)) < date(directory.path($1)) }))
    let moved = directory.path("moved")
    _ = try await runShell("cd \(quoted(moved)) && mkdir right && mv program right/ && cp /bin/true program")
    let differs = try await undead(program, "leaks", core)
    #expect(differs.ending == .exit(64) && differs.output == "")
    #expect(differs.errors.contains("moved/program' is another version: its build id is"), "\(differs.errors)")
    #expect(differs.errors.contains("--sysroot DIR"))
    let found = try await undead(program, "leaks", core, "--binaries", moved + "/right")
    #expect(found.ending == .exit(23), "\(found.errors)")
    let nowhere = try await undead(program, "leaks", core, "--binaries", moved + "/none")
    #expect(nowhere.ending == .exit(64) && nowhere.errors.contains("there is no such directory"))
    // Cut off in the middle of the program's memory.
    let handle = try FileHandle(forUpdating: URL(filePath: core))
    try handle.truncate(atOffset: try handle.seekToEnd() / 2)
    try handle.close()
    let cut = try await undead(program, "heap", core, "--binaries", moved + "/right")
    #expect(cut.ending == .exit(64) && cut.errors.contains("it was cut off at byte"), "\(cut.errors)")
  }

  private func date(_ path: String) throws -> Date {
    try FileManager.default.attributesOfItem(atPath: path)[.modificationDate] as? Date ?? .distantPast
  }

  /// The memory of a program that stands still, seen in two ways: a thread that is on its way into its sleep has more.
  @Test(.enabled(if: hasDebugger, "gdb is not installed"), arguments: Program.selected(in: "Cores"))
  func aCoreSaysWhatAttachSays(_ program: Program) async throws {
    try await Tool.gate.pass {
      let directory = try TemporaryDirectory()
      let built = try await program.build().executable.path
      let script = """
        cd \(quoted(directory.path)); \(quoted(built)) wait > out & process=$!
        trap 'kill -KILL $process' EXIT
        until grep -q ready out && ! grep State: /proc/$process/task/*/status | grep -qv sleeping; do sleep 0.01; done
        \(quoted(tool(program))) heap $process --format json > attached.json &&
        \(quoted(tool(program))) leaks $process --format json > leaks.json
        gcore -o core $process > gcore.log 2>&1 || exit 1
        mv core.$process whole
        """
      let outcome = try await runShell(script)
      #expect(outcome.ending == .exit(0), "\(outcome.errors)")
      try await check(program, directory.path("whole"), signal: nil)
      let attached = try JSONDecoder().decode(HeapReport.self, from: Data(directory.contents("attached.json").utf8))
      let core = try await heap(program, directory.path("whole"))
      #expect(core.types == attached.types && core.roots == attached.roots)
      let leaks = try JSONRenderer.parse(Data(directory.contents("leaks.json").utf8)).leaks
      let coreLeaks = try await self.leaks(program, "leaks", directory.path("whole")).leaks
      #expect(leaks.map(\.signature) == coreLeaks.map(\.signature))
      #expect(leaks.map(\.totalBytes) == coreLeaks.map(\.totalBytes))
    }
  }
}
