import Foundation
import NIOCore
import NIOPosix
import Testing
import UndeadService

@testable import UndeadNIO

/// The server on a port of its own.
@Suite(.timeLimit(.minutes(5))) struct NIOTests {
  private func withServer(
    isAllowed: UndeadHTTPHandler.Authorization? = nil, _ body: (SocketAddress) async throws -> Void
  ) async throws {
    let (addresses, continuation) = AsyncStream<SocketAddress>.makeStream()
    let server = UndeadHTTPServer(
      UndeadDebugService(configuration: .init(labels: [:])), port: 0, isAllowed: isAllowed,
      whenBound: { continuation.yield($0) })
    try await withThrowingTaskGroup { group in
      group.addTask { try await server.run() }
      var iterator = addresses.makeAsyncIterator()
      try await body(try #require(await iterator.next()))
      group.cancelAll()
    }
  }

  @Test func answers() async throws {
    try await withServer { address in
      let index = try await ask("GET /debug/pprof/ HTTP/1.1\r\nHost: a\r\n\r\n", address)
      #expect(index.hasPrefix("HTTP/1.1 200 OK\r\n") && index.hasSuffix("</html>\n"))
      let post = try await ask("POST /debug/pprof/heap HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nab", address)
      #expect(post.hasPrefix("HTTP/1.1 405 "))
      let bad = try await ask("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", address)
      #expect(bad.hasPrefix("HTTP/1.1 401 "))
      let head = try await ask("HEAD /debug/pprof/ HTTP/1.1\r\nHost: a\r\n\r\n", address)
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && !head.contains("<html"))
    }
  }

  @Test func whoMayNotAskIsRefused() async throws {
    let isAllowed: UndeadHTTPHandler.Authorization = { request in
      request.headers.contains { $0.name.lowercased() == "authorization" && $0.value == "Bearer x" }
    }
    try await withServer(isAllowed: isAllowed) { address in
      let refused = try await ask("GET /debug/pprof/ HTTP/1.1\r\nHost: a\r\n\r\n", address)
      #expect(refused.hasPrefix("HTTP/1.1 401 "))
      let allowed = try await ask("GET /debug/pprof/ HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer x\r\n\r\n", address)
      #expect(allowed.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test func onlyLoopbackWithoutSomebodyWhoSaysWhoMayAsk() async throws {
    await #expect(throws: UndeadHTTPServer.Refusal.self) {
      try await UndeadHTTPServer(UndeadDebugService(), host: "0.0.0.0", port: 0).run()
    }
  }
}
