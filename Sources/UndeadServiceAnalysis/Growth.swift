import UndeadFormats
import UndeadHeap
import UndeadHeapReport
import UndeadPage
import UndeadReport
import UndeadService

extension UndeadDebugService {
  /// `/debug/undead/growth`: what grew between two looks.
  func analysedGrowth(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    let wait = try seconds(request) ?? .seconds(30)
    let before = try await keptHeap()
    defer { before.kept.remove() }
    try await Task.sleep(for: wait)
    let after = try await keptHeap()
    defer { after.kept.remove() }
    let (limit, names) = (configuration.mostBlocks, names)
    return try await answer(format.contentType, of: after.path) { new in
      let old = try Self.heap(before.path, limit)
      var diff = HeapDiff(from: old, to: new)
      diff.leaks = ReportDiff(from: Self.leaks(old, names), to: Self.leaks(new, names))
      switch format {
      case .text: return Array(HeapDiffText.render(diff).utf8)
      case .json: return Array(try JSONRenderer.encode(diff))
      case .html: return Array(GrowthPage.render(diff).utf8)
      }
    }
  }

  private static func leaks(_ heap: LoadedHeap, _ names: CodeNames) -> LeakReport {
    let snapshot = heap.file.snapshot
    return LeakReport(analyzing: [ReportInput(snapshot, symbols: names.look(up: snapshot).symbols)])
  }
}
