// What a process finds in its own heap: tables, paths, tasks and growth. It takes the whole graph into the memory of the process and
// most of the tool into its executable, so it is a library apart; `UndeadService` alone hands out the heap file for `undead heap` elsewhere.
import UndeadHeap
import UndeadPage
import UndeadReport
import UndeadService
import UndeadSystem

extension UndeadDebugService.Analyses {
  /// Answers `/debug/undead/heap`, `/tasks` and `/growth`, and `format=html`, by analysing the heap in the process itself.
  public static let inProcess = Self(
    heap: { service, request in try await service.analysedHeap(request) },
    tasks: { service, request in try await service.analysedTasks(request) },
    growth: { service, request in try await service.analysedGrowth(request) },
    page: { report, options in ReportPage.render(report, options: options) })
}

extension UndeadDebugService {
  /// An answer that is made of a heap file, on a thread of its own.
  func answer(
    _ contentType: String, of file: String, _ make: @escaping @Sendable (LoadedHeap) throws -> [UInt8]
  ) async throws -> Response {
    let limit = configuration.mostBlocks
    let bytes = try await onOwnThread { try make(try Self.heap(file, limit)) }
    return .init(contentType: contentType, body: Body(bytes))
  }

  /// Reads a heap, unless this process had better not.
  static func heap(_ path: String, _ limit: Int) throws -> LoadedHeap {
    let file = try HeapFile(path: path)
    let blocks = file.snapshot.counter("heapBlocks")
    guard blocks <= UInt64(limit) else {
      throw Missing(
        status: 507,
        description: "there are \(blocks) blocks in memory, and at most \(limit) are analysed in the process itself "
          + "(Configuration.mostBlocks); fetch /debug/undead/heap?file=1 and use 'undead heap' elsewhere")
    }
    file.resources = ProcessResources(of: "self")
    return try LoadedHeap(file)
  }
}
