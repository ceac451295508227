import Foundation
import Testing
import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadTestSupport

/// Heap files of real programs, whose every object is known.
@Suite struct HeapTests {
  private func tool(_ program: Program) -> String { program.configuration == .release ? Tool.releasePath : Tool.path }

  private func answer(_ program: Program, _ file: String, _ options: String...) async throws -> HeapReport {
    let words = ["heap", file, "--format", "json"] + options
    let outcome = try await runShell("\(quoted(tool(program))) \(words.map(quoted).joined(separator: " "))")
    #expect(outcome.ending == .exit(0) && outcome.errors == "")
    return try JSONDecoder().decode(HeapReport.self, from: Data(outcome.output.utf8))
  }

  private func withHeap(
    _ program: Program, options: String = "", _ body: @Sendable @escaping (String) async throws -> Void
  ) async throws {
    try await Tool.gate.pass {
      let built = try await program.build()
      let directory = try TemporaryDirectory()
      let file = directory.path("heap.undead")
      let outcome = try await runShell(
        "\(quoted(tool(program))) run \(options) --heap \(quoted(file)) -- \(quoted(built.executable.path))")
      #expect(outcome.ending == .exit(0), "\(outcome.errors)")
      #expect(outcome.output == "1000 true\n")
      try await body(file)
    }
  }

  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func everyObjectIsThere(_ program: Program) async throws {
    try await withHeap(program) { file in
      let report = try await answer(program, file)
      let rows = Dictionary(grouping: report.types, by: \.type).mapValues { $0[0] }
      for (type, count) in [("Cache", 1), ("Session", 1000), ("Product", 5), ("Node", 100), ("Hidden", 1)] {
        #expect(rows["App.\(type)"]?.count == count, "\(type)")
      }
      let list = try #require(rows["App.Node"])
      #expect(list.retainedBytes == list.bytes)
      let cache = try #require(report.roots.first { $0.kind == "global" && $0.name == "App.registry" })
      // Sessions, their names, buffers and keys, the list, the products and their titles.
      #expect(cache.count >= 4 * 1000 + 100 + 2 * 5)
      #expect(report.memory.reduce(0) { $0 + $1.residentBytes } == report.summary.residentBytes)
      #expect(report.summary.complete && report.summary.residentBytes > report.summary.objectBytes)
      let site = try #require(report.sites.first { $0.type == "App.Session" })
      #expect(site.count == 1000 && site.allocation.frames.contains { $0.symbol == "App.fill()" })
    }
  }

  /// Every object is counted; where it was allocated is an estimate, three times as far from the truth as is reported at most.
  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func aSampleOfTheBacktraces(_ program: Program) async throws {
    try await withHeap(program, options: "--sample 1KiB") { file in
      let report = try await answer(program, file)
      #expect(report.types.first { $0.type == "App.Session" }?.count == 1000 && report.summary.complete)
      #expect(report.types.first { $0.type == "App.Node" }?.count == 100)
      let sites = report.sites.filter { $0.type == "App.Session" }
      let site = try #require(sites.first)
      #expect(sites.count == 1 && site.allocation.frames.contains { $0.symbol == "App.fill()" })
      let estimate = try #require(site.estimate)
      #expect(estimate.samples > 0 && abs(estimate.count - 1000) <= 3 * estimate.countMargin, "\(estimate)")
      let heap = "\(quoted(tool(program))) heap \(quoted(file))"
      #expect(try await runShell("\(heap) --by site").output.contains("\u{B1}"))
      let profile = try await runShell("\(heap) --format pprof | gzip -dc | tr -dc '[:print:]'")
      #expect(profile.output.contains("alloc_space") && profile.output.contains("App.fill()"))
    }
    for wrong in ["--sample 1x", "--sample 0", "--sample 2GiB", "--sample 1KiB --zombies"] {
      let outcome = try await runShell("\(quoted(tool(program))) run \(wrong) -- true")
      #expect(outcome.ending == .exit(64) && !outcome.errors.isEmpty, "\(wrong)")
    }
  }

  /// Forms for other programs: what they hold is tested where they are made.
  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func pagesGraphsAndProfiles(_ program: Program) async throws {
    try await withHeap(program) { file in
      let heap = "\(quoted(tool(program))) heap \(quoted(file))"
      let page = try await runShell("\(heap) --format html")
      #expect(page.ending == .exit(0) && page.errors == "")
      #expect(page.output.hasPrefix("<!doctype html>") && page.output.hasSuffix("</html>\n"))
      #expect(page.output.contains("App.Session"))
      let graph = try await runShell("\(heap) --format dot --type Session")
      #expect(graph.ending == .exit(0) && graph.output.hasPrefix("digraph \"App.Session\" {\n"))
      let profile = try await runShell("\(heap) --format pprof | gzip -dc | tr -dc '[:print:]'")
      #expect(profile.output.contains("inuse_space") && profile.output.contains("App.Session"))
      for wrong in ["html --type Session", "pprof --address 0x10", "dot --type NoSuchType", "dot --address 0x1"] {
        let outcome = try await runShell("\(heap) --format \(wrong)")
        #expect(outcome.ending == .exit(64) && !outcome.errors.isEmpty, "\(wrong)")
      }
    }
  }

  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func whatAnObjectKeepsAlive(_ program: Program) async throws {
    try await withHeap(program) { file in
      let session = try #require(try await answer(program, file, "--type", "App.Session").detail)
      #expect(session.count == 1000 && session.instances.allSatisfy { $0.retainedBytes > 200 })
      // Names and buffers are theirs alone, products are not, and weak and unowned references keep nothing.
      let own = session.references.filter { ["name", "buffer"].contains($0.field) }
      #expect(own.map(\.count) == [1000, 1000])
      #expect(session.retainedBytes == session.bytes + own.reduce(0) { $0 + $1.bytes })
      let fields = Set(session.references.map { "\($0.field) \($0.strength ?? "strong")" })
      #expect(fields == ["name strong", "buffer strong", "product strong", "cache weak", "back unowned"])
      let held = session.referrers.filter { $0.strength == nil }
      #expect(held.contains { $0.type == "App.Cache" && $0.field == "sessions[value]" && $0.count == 1000 })
      #expect(session.paths.first?.count ?? 0 >= 990)
      #expect(session.paths.first?.retainPath.map(\.field) == ["sessions[value]", ""])
      #expect(session.paths.first?.retainPath.first?.root?.name == "App.registry")

      let product = try #require(try await answer(program, file, "--type", "App.Product").detail)
      #expect(product.instances.count == 5)
      #expect(product.instances.allSatisfy { $0.dominators.first?.type != "App.Session" })
      #expect(product.instances.allSatisfy { $0.references.map { $0.total == $0.found } ?? false })

      let hidden = try #require(try await answer(program, file, "--type", "Hidden").detail)
      #expect(hidden.retainedBytes > 800)
      #expect(hidden.paths.isEmpty && hidden.instances[0].retainPath.first?.root?.name == "App.hidden")
    }
  }

  /// A closure has its own name, whatever else the field holds in other objects.
  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func closuresThatShareAField(_ program: Program) async throws {
    try await withHeap(program) { file in
      let apple = try #require(try await answer(program, file, "--type", "App.Apple").detail)
      var counts: [String: Int] = [:]
      for path in apple.paths {
        let closure = path.retainPath.first { $0.field == "action" }?.closure?.symbol ?? "none"
        counts[closure, default: 0] += path.count
      }
      #expect(apple.count == 16)
      #expect(
        counts == [
          "closure #1 in App.wireFirst(_:)": 4, "closure #1 in App.wireSecond(_:)": 8,
          "closure #1 in App.wireThird(_:_:)": 4,
        ], "\(apple.paths)")
    }
  }

  @Test(arguments: Program.selected(in: "HeapAnswers"))
  func nothingBehindTheLastFieldIsAReference(_ program: Program) async throws {
    try await withHeap(program) { file in
      let leaf = try #require(try await answer(program, file, "--type", "App.Leaf").detail)
      #expect(leaf.count == 1 && !leaf.referrers.contains { $0.type == "App.Entry" }, "\(leaf.referrers)")
      let entry = try #require(try await answer(program, file, "--type", "App.Entry").detail)
      #expect(entry.count == 4 && entry.references.isEmpty, "\(entry.references)")
    }
  }
}
