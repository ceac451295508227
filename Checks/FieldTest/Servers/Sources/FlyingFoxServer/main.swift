import FlyingFox
import FlyingSocks
import Foundation

struct Article: Codable {
  var name: String
  var price: Int
}

/// What comes in order, a piece after a pause.
struct Pieces: AsyncBufferedSequence {
  typealias Element = UInt8
  var count: Int

  struct AsyncIterator: AsyncBufferedIteratorProtocol {
    var left: Int
    mutating func next() async throws -> UInt8? { try await nextBuffer(suggested: 1)?.first }
    mutating func nextBuffer(suggested count: Int) async throws -> [UInt8]? {
      guard left > 0 else { return nil }
      left -= 1
      try await Task.sleep(for: .milliseconds(1))
      return Array(repeating: 46, count: 64)
    }
  }
  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(left: count) }
}

actor Visits {
  private var names: [String: [Article]] = [:]
  func add(_ name: String) async -> Int {
    names[name, default: []].append(Article(name: name, price: names.count))
    if names[name, default: []].count > 20 { names[name] = nil }
    await Task.yield()
    return names.count
  }
}

let visits = Visits()
let server = HTTPServer(port: CommandLine.arguments.dropFirst().first.flatMap { UInt16($0) } ?? 8080)
await server.appendRoute("GET /browse/*") { request in
  let page = (1...10).map { Article(name: "article \($0) of \(request.path)", price: $0 * 100) }
  return HTTPResponse(statusCode: .ok, body: try JSONEncoder().encode(page))
}
await server.appendRoute("GET /visit/*") { request in
  async let number = visits.add(request.path)
  try await Task.sleep(for: .milliseconds(2))
  return HTTPResponse(statusCode: .ok, body: Data("\(await number)".utf8))
}
await server.appendRoute("GET /pieces/*") { _ in
  HTTPResponse(statusCode: .ok, body: HTTPBodySequence(from: Pieces(count: 8)))
}
await server.appendRoute("POST /echo/*") { request in
  HTTPResponse(statusCode: .ok, body: try await request.bodyData)
}
try await server.run()
