import UndeadHeap
import UndeadHeapReport
import UndeadPage
import UndeadReport
import UndeadService

extension UndeadDebugService {
  /// `/debug/undead/heap`: what is in memory, and who holds it.
  func analysedHeap(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    let view: HeapView = try request.choice("by", .type)
    var options = HeapReportOptions()
    options.top = try request.number("top")
    options.detailLimit = options.top
    options.foldsStorage = format == .text
    options.includesSites = format == .json || view == .site
    options.includesResources = format == .json || view == .descriptor || view == .thread
    if let type = request.value("type") {
      guard format != .html else { throw BadQuery("format=html holds the whole heap; leave out type") }
      options.subject = .type(type)
    }
    let rows = options.top ?? 20
    if format == .text { options.top = nil }
    let symbolizer = names.symbolizer
    let (file, kept) = try await keptHeap()
    defer { kept.remove() }
    let fixed = options
    return try await answer(format.contentType, of: file) { heap in
      if format == .html { return Array(Self.page(heap, symbolizer).utf8) }
      do {
        let report = try HeapReport(heap, options: fixed, symbolizer: symbolizer)
        return try format == .json ? Array(report.json()) : Array(HeapText.render(report, by: view, rows: rows).utf8)
      } catch let error as HeapQuestionError {
        throw Missing(status: 404, description: error.description)
      }
    }
  }

  private static func page(_ heap: LoadedHeap, _ symbolizer: Symbolizer) -> String {
    let symbols = HeapSymbols(heap, symbolizer)
    let snapshot = heap.file.snapshot
    symbols.prepare(
      stacks: (0..<snapshot.stacks.count).map { Snapshot.Index($0) }, functions: snapshot.edges.map(\.function))
    return HeapPage.render(heap, symbols: symbols)
  }
}
