import Undead
import UndeadFormats
import UndeadHeap
import UndeadPage
import UndeadProfile
import UndeadReport

extension UndeadDebugService {
  /// `/debug/undead/growth`: what grew between two looks, or what was born after a mark and is still there.
  func growth(_ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    if let mark = request.value("since") { return try await growth(since: mark, request, format) }
    let wait = try seconds(request) ?? .seconds(30)
    let before = try await keptHeap()
    defer { before.kept.remove() }
    try await Task.sleep(for: wait)
    let after = try await keptHeap()
    defer { after.kept.remove() }
    let (limit, names) = (configuration.mostBlocks, names)
    let bytes: [UInt8] = try await onOwnThread {
      let (old, new) = (try Self.heap(before.path, limit), try Self.heap(after.path, limit))
      var diff = HeapDiff(from: old, to: new)
      diff.leaks = ReportDiff(from: Self.leaks(old, names), to: Self.leaks(new, names))
      switch format {
      case .text: return Array(HeapDiffText.render(diff).utf8)
      case .json: return Array(try JSONRenderer.encode(diff))
      case .html: return Array(GrowthPage.render(diff).utf8)
      }
    }
    return .init(contentType: format.contentType, body: Body(bytes))
  }

  private static func leaks(_ heap: LoadedHeap, _ names: CodeNames) -> LeakReport {
    let snapshot = heap.file.snapshot
    return LeakReport(analyzing: [ReportInput(snapshot, symbols: names.look(up: snapshot).symbols)])
  }

  private func growth(since mark: String, _ request: Request, _ format: AnswerFormat) async throws -> Response {
    guard format != .html else { throw BadQuery("format=html: what was born after a mark is told as text or json") }
    let top = try request.number("top") ?? 20
    let sites = try await sites()
    guard let born = BornSince(sites, mark: mark) else {
      throw Missing(
        status: 404,
        description:
          "there is no mark '\(mark.prefix(64))'; make one with POST /debug/undead/mark?name=NAME, or give its number")
    }
    let names = try await named(sites).1
    switch format {
    case .json:
      return .init(
        contentType: format.contentType,
        body: Body(Array(try JSONRenderer.encode(born.answer(names.symbols, top: nil)))))
    default: return .init(text: born.answer(names.symbols, top: top).text)
    }
  }
}
