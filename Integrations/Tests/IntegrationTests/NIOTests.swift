import Foundation
import NIOCore
import NIOEmbedded
import NIOPosix
import Testing
import UndeadService

@testable import UndeadNIO

/// The server on a port of its own.
@Suite(.timeLimit(.minutes(5))) struct NIOTests {
  private func withServer(
    hosts: [String] = [], isAllowed: UndeadHTTPHandler.Authorization? = nil,
    _ body: (SocketAddress) async throws -> Void
  ) async throws {
    let (addresses, continuation) = AsyncStream<SocketAddress>.makeStream()
    let server = UndeadHTTPServer(
      UndeadDebugService(configuration: .init(labels: [:])), port: 0, hosts: hosts, isAllowed: isAllowed,
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
      let host = "Host: localhost:\(address.port ?? 0)\r\n"
      let index = try await ask("GET /debug/pprof/ HTTP/1.1\r\n\(host)\r\n", address)
      #expect(index.hasPrefix("HTTP/1.1 200 OK\r\n") && index.hasSuffix("</html>\n"))
      let post = try await ask("POST /debug/pprof/heap HTTP/1.1\r\n\(host)\r\n", address)
      #expect(post.hasPrefix("HTTP/1.1 405 "))
      let body = try await ask("POST /debug/undead/mark HTTP/1.1\r\n\(host)Content-Length: 2\r\n\r\nab", address)
      #expect(body.hasPrefix("HTTP/1.1 413 "))
      let mark = try await ask("GET /debug/undead/mark?name=a HTTP/1.1\r\n\(host)\r\n", address)
      #expect(mark.hasPrefix("HTTP/1.1 405 ") && mark.contains("Allow: POST\r\n"))
      let bad = try await ask("GET /%zz HTTP/1.1\r\n\(host)\r\n", address)
      #expect(bad.hasPrefix("HTTP/1.1 400 "))
      let head = try await ask("HEAD /debug/pprof/ HTTP/1.1\r\n\(host)\r\n", address)
      #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n") && !head.contains("<html"))
    }
  }

  @Test func namesOfOtherSitesAreRefused() async throws {
    try await withServer(hosts: ["undead.internal"]) { address in
      let port = address.port ?? 0
      for host in ["evil.example:\(port)", "localhost", "localhost:1", "localhost\r\nHost: localhost:\(port)"] {
        let answer = try await ask("GET /debug/undead/report HTTP/1.1\r\nHost: \(host)\r\n\r\n", address)
        #expect(answer.hasPrefix("HTTP/1.1 403 ") || answer.hasPrefix("HTTP/1.1 400 "), "\(host)")
      }
      let none = try await ask("GET /debug/undead/report HTTP/1.0\r\n\r\n", address)
      #expect(none.hasPrefix("HTTP/1.1 400 ") || none.hasPrefix("HTTP/1.0 400 "))
      for host in ["localhost:\(port)", "127.0.0.1:\(port)", "undead.internal"] {
        let answer = try await ask("GET /debug/undead/ HTTP/1.1\r\nHost: \(host)\r\n\r\n", address)
        #expect(answer.hasPrefix("HTTP/1.1 200 "), "\(host)")
      }
      let page = "Host: localhost:\(port)\r\nOrigin: http://evil.example\r\n"
      let mark = try await ask("POST /debug/undead/mark?name=a HTTP/1.1\r\n\(page)\r\n", address)
      #expect(mark.hasPrefix("HTTP/1.1 403 "))
    }
  }

  @Test func aRequestMustComeInTime() throws {
    let channel = EmbeddedChannel()
    let handler = UndeadHTTPHandler(
      service: UndeadDebugService(configuration: .init(labels: [:])), hosts: .any, headTime: .seconds(10)
    ) { _ in true }
    try channel.pipeline.syncOperations.addHandler(handler)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
    channel.embeddedEventLoop.advanceTime(by: .seconds(9))
    #expect(channel.isActive)
    channel.embeddedEventLoop.advanceTime(by: .seconds(2))
    #expect(!channel.isActive)
  }

  @Test func manyConnectionsAreNotServed() async throws {
    try await withServer { address in
      let text = "GET /debug/undead/ HTTP/1.1\r\nHost: localhost:\(address.port ?? 0)\r\n\r\n"
      var idle: [any Channel] = []
      for _ in 0..<16 {
        idle.append(try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton).connect(to: address).get())
      }
      let refused = (try? await ask(text, address)) ?? ""
      #expect(refused.isEmpty)
      for channel in idle { try await channel.close() }
    }
  }

  @Test func whoMayNotAskIsRefused() async throws {
    let isAllowed: UndeadHTTPHandler.Authorization = { request in
      request.headers.contains { $0.name.lowercased() == "authorization" && $0.value == "Bearer x" }
    }
    try await withServer(isAllowed: isAllowed) { address in
      let host = "Host: localhost:\(address.port ?? 0)\r\n"
      let refused = try await ask("GET /debug/pprof/ HTTP/1.1\r\n\(host)\r\n", address)
      #expect(refused.hasPrefix("HTTP/1.1 401 "))
      let allowed = try await ask("GET /debug/pprof/ HTTP/1.1\r\n\(host)Authorization: Bearer x\r\n\r\n", address)
      #expect(allowed.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }
  }

  @Test func onlyLoopbackWithoutSomebodyWhoSaysWhoMayAsk() async throws {
    await #expect(throws: UndeadHTTPServer.Refusal.self) {
      try await UndeadHTTPServer(UndeadDebugService(), host: "0.0.0.0", port: 0).run()
    }
  }
}
