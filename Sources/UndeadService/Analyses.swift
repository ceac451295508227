import UndeadReport

extension UndeadDebugService {
  /// Answers that take the whole graph of a heap into the process; product `UndeadServiceAnalysis` has them.
  public struct Analyses: Sendable {
    package typealias Make = @Sendable (UndeadDebugService, Request) async throws -> Response

    let heap: Make
    let tasks: Make
    let growth: Make
    /// A report for a browser.
    let page: @Sendable (LeakReport, ReportTextOptions) -> String

    package init(
      heap: @escaping Make, tasks: @escaping Make, growth: @escaping Make,
      page: @escaping @Sendable (LeakReport, ReportTextOptions) -> String
    ) {
      self.heap = heap
      self.tasks = tasks
      self.growth = growth
      self.page = page
    }
  }

  /// - Throws: ``Missing`` that says where the answer can be had.
  func analyses() throws -> Analyses {
    if let analyses = configuration.analyses { return analyses }
    throw Missing(
      status: 501,
      description: "this program does not analyse its own heap: fetch /debug/undead/heap?file=1 and use 'undead heap', "
        + "'undead tasks' or 'undead diff', or take the report as text or JSON. Product UndeadServiceAnalysis, with "
        + "Configuration(analyses: .inProcess), answers here")
  }

  /// `/debug/undead/heap`: the file, or what is in memory and who holds it.
  func heap(_ request: Request) async throws -> Response {
    if request.flag("file") { return try await heapFile(request) }
    return try await analyses().heap(self, request)
  }

  /// `/debug/undead/tasks`: all tasks, what they wait for, and who could resume them.
  func tasks(_ request: Request) async throws -> Response { try await analyses().tasks(self, request) }

  /// `/debug/undead/growth`: what was born after a mark and is still there, or what grew between two looks.
  func growth(_ request: Request) async throws -> Response {
    if let mark = request.value("since") { return try await growth(since: mark, request) }
    return try await analyses().growth(self, request)
  }

  /// A report in a form for people or programs.
  func response(_ report: LeakReport, _ format: AnswerFormat, _ options: ReportTextOptions) throws -> Response {
    switch format {
    case .text: .init(text: TextRenderer.render(report, options: options))
    case .html: .init(text: try analyses().page(report, options), contentType: format.contentType)
    case .json: .init(contentType: format.contentType, body: Body(Array(try JSONRenderer.render(report))))
    }
  }
}
