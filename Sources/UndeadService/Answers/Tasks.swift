import UndeadHeap
import UndeadReport

extension UndeadDebugService {
  /// `/debug/undead/tasks`: all tasks, what they wait for, and who could resume them.
  func tasks(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    guard format != .html else { throw BadQuery("there is no page of tasks; give format=text or json") }
    let rows = try request.number("top") ?? 20
    let (limit, symbolizer) = (configuration.mostBlocks, names.symbolizer)
    let (file, kept) = try await keptHeap()
    defer { kept.remove() }
    let bytes: [UInt8] = try await onOwnThread {
      let report = TaskReport(try Self.heap(file, limit), symbolizer: symbolizer)
      return try format == .json ? report.json() : Array(TaskText.render(report, rows: rows).utf8)
    }
    return .init(contentType: format.contentType, body: Body(bytes))
  }
}
