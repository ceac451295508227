import UndeadProfile
import UndeadReport

extension UndeadDebugService {
  /// `/debug/undead/growth?since=MARK`: what was born after a mark and is still there.
  func growth(since mark: String, _ request: Request) async throws -> Response {
    let format: AnswerFormat = try request.choice("format", .text)
    guard format != .html else {
      throw BadQuery("format=html: what was allocated after a mark comes as text or json, so give one of these")
    }
    let top = try request.number("top") ?? 20
    let sites = try await sites()
    guard let born = BornSince(sites, mark: mark) else {
      throw Missing(
        status: 404,
        description:
          "there is no mark '\(mark.prefix(64))'; make one with POST /debug/undead/mark?name=NAME, or give its number")
    }
    let names = try await named(sites).1
    guard format == .json else { return .init(text: born.answer(names.symbols, top: top).text) }
    return .init(
      contentType: format.contentType, body: Body(Array(try JSONRenderer.encode(born.answer(names.symbols, top: nil)))))
  }
}
