import Foundation
import Hummingbird
import NIOCore
import Testing
import UndeadService

@testable import ExampleServer

/// The routes in Hummingbird, behind a middleware that asks for a password.
@Suite(.timeLimit(.minutes(5))) struct HummingbirdTests {
  private func withServer(
    password: String? = "secret", _ body: (SocketAddress) async throws -> Void
  ) async throws {
    let (addresses, continuation) = AsyncStream<SocketAddress>.makeStream()
    let application = Application(
      router: ExampleServer.router(password: password),
      configuration: .init(address: .hostname("127.0.0.1", port: 0)),
      onServerRunning: { channel in
        if let address = channel.localAddress { continuation.yield(address) }
      })
    try await withThrowingTaskGroup { group in
      group.addTask { try await application.run() }
      var iterator = addresses.makeAsyncIterator()
      try await body(try #require(await iterator.next()))
      group.cancelAll()
    }
  }

  private func request(_ method: String, _ path: String, credentials: String? = "ops:secret") -> String {
    let authorization =
      credentials.map { "Authorization: Basic \(Data($0.utf8).base64EncodedString())\r\n" } ?? ""
    return "\(method) \(path) HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\(authorization)\r\n"
  }

  @Test func withoutThePasswordNothingIsTold() async throws {
    try await withServer { address in
      for credentials in [nil, "ops:", "ops:secret2", "ops:Secret", "", ":", "ops:secretops:secret"] {
        for path in ["/debug/pprof/heap", "/debug/pprof/", "/debug/pprof", "/debug/undead/mark?name=a"] {
          let answer = try await ask(request("GET", path, credentials: credentials), address)
          #expect(answer.hasPrefix("HTTP/1.1 401 "))
        }
      }
      let open = try await ask(request("GET", "/", credentials: nil), address)
      #expect(open.hasSuffix("hello\n"))
    }
  }

  @Test func withoutAPasswordNothingIsThere() async throws {
    try await withServer(password: nil) { address in
      let nothing = try await ask(request("GET", "/debug/pprof/heap"), address)
      #expect(nothing.hasPrefix("HTTP/1.1 404 "))
    }
  }

  @Test func answers() async throws {
    try await withServer { address in
      let index = try await ask(request("GET", "/debug/pprof/"), address)
      #expect(index.hasPrefix("HTTP/1.1 200 ") && index.contains("<a href=\"heap\">"))
      let moved = try await ask(request("GET", "/debug/pprof"), address)
      #expect(moved.hasPrefix("HTTP/1.1 301 ") && moved.contains("ocation: /debug/pprof/\r\n"))
      let profile = try await ask(request("GET", "/debug/pprof/heap"), address)
      #expect(profile.hasPrefix("HTTP/1.1 200 ") && profile.contains("application/octet-stream"))
      let wrong = try await ask(request("GET", "/debug/undead/report?format=xml"), address)
      #expect(wrong.hasPrefix("HTTP/1.1 400 "))
      let mark = try await ask(request("GET", "/debug/undead/mark?name=a"), address)
      #expect(mark.hasPrefix("HTTP/1.1 405 ") && mark.contains("llow: POST\r\n"))
      let post = try await ask(request("POST", "/debug/undead/report"), address)
      #expect(post.hasPrefix("HTTP/1.1 405 ") && post.contains("GET, HEAD"))
      let head = try await ask(request("HEAD", "/debug/pprof/heap"), address)
      #expect(head.hasPrefix("HTTP/1.1 200 ") && head.hasSuffix("\r\n\r\n"))
    }
  }
}
