import Undead
import UndeadHeap
import UndeadPage
import UndeadReport
import UndeadSystem

extension UndeadDebugService {
  /// `/debug/undead/heap`: what is in memory, and who holds it; or the file for `undead heap` elsewhere.
  func heap(_ request: Request) async throws -> Response {
    if request.flag("file") { return try await heapFile(request) }
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
    let (limit, symbolizer) = (configuration.mostBlocks, names.symbolizer)
    let (file, kept) = try await keptHeap()
    defer { kept.remove() }
    let fixed = options
    let bytes: [UInt8] = try await onOwnThread {
      let heap = try Self.heap(file, limit)
      switch format {
      case .html: return Array(Self.page(heap, symbolizer).utf8)
      case .json: return Array(try HeapReport(heap, options: fixed, symbolizer: symbolizer).json())
      case .text:
        let report = try HeapReport(heap, options: fixed, symbolizer: symbolizer)
        return Array(HeapText.render(report, by: view, rows: rows).utf8)
      }
    }
    return .init(contentType: format.contentType, body: Body(bytes))
  }

  /// A heap file of this moment, and what its directory lives by.
  func keptHeap() async throws -> (path: String, kept: PrivateDirectory) {
    try await lookAtHeap { path, directory in (path, directory) }
  }

  func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () throws -> Value) async throws -> Value {
    try await OwnThread.run { Result(catching: work) }.get()
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

  private static func page(_ heap: LoadedHeap, _ symbolizer: Symbolizer) -> String {
    let symbols = HeapSymbols(heap, symbolizer)
    let snapshot = heap.file.snapshot
    symbols.prepare(
      stacks: (0..<snapshot.stacks.count).map { Snapshot.Index($0) }, functions: snapshot.edges.map(\.function))
    return HeapPage.render(heap, symbols: symbols)
  }

  /// The file, with the names of its code unless `names=0` asks for less work here.
  private func heapFile(_ request: Request) async throws -> Response {
    let symbolizer = request.value("names") == "0" ? nil : names.symbolizer
    let (path, kept) = try await keptHeap()
    defer { kept.remove() }
    let file = try await onOwnThread {
      guard let symbolizer else { return try OpenFile(takingNameOf: path) }
      let named = kept.file("named.undead")
      try HeapFile.save(path, to: named, resources: ProcessResources(of: "self"), using: symbolizer)
      return try OpenFile(takingNameOf: named)
    }
    return .init(
      contentType: "application/octet-stream",
      headers: [.init(name: "Content-Disposition", value: "attachment; filename=\"heap.undead\"")], body: Body(file))
  }
}
