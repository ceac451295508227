import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadService

extension UndeadDebugService {
  /// `/debug/undead/tasks`: all tasks, what they wait for, and who could resume them.
  func analysedTasks(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    guard format != .html else { throw BadQuery("there is no page of tasks; give format=text or json") }
    let rows = try request.number("top") ?? 20
    let symbolizer = names.symbolizer
    let (file, kept) = try await keptHeap()
    defer { kept.remove() }
    return try await answer(format.contentType, of: file) { heap in
      let report = TaskReport(heap, symbolizer: symbolizer)
      return try format == .json ? report.json() : Array(TaskText.render(report, rows: rows).utf8)
    }
  }
}
