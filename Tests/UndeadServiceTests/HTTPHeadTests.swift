import Testing
import UndeadTestSupport

@testable import UndeadService

/// What the socket understands of HTTP, and what it does with the rest.
@Suite struct HTTPHeadTests {
  private func parse(_ text: String) -> HTTPHead.Result { HTTPHead.parse(Array(text.utf8)) }

  private func status(_ text: String) -> Int? {
    if case .bad(let status, _) = parse(text) { status } else { nil }
  }

  @Test func aRequestOfCurl() {
    let text = "GET /debug/pprof/heap?debug=1&x=a%20b HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8\r\n\r\n"
    #expect(
      parse(text)
        == .request(
          .init(
            method: "GET", path: "/debug/pprof/heap",
            query: [.init(name: "debug", value: "1"), .init(name: "x", value: "a b")],
            headers: [.init(name: "host", value: "localhost"), .init(name: "user-agent", value: "curl/8")])))
    for end in 0..<text.count - 1 { #expect(parse(String(text.prefix(end))) == .incomplete) }
  }

  @Test func linesMayEndWithoutReturn() {
    #expect(parse("GET / HTTP/1.0\n\n") == .request(.init(method: "GET", path: "/")))
    #expect(parse("HEAD / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n") == .request(.init(method: "HEAD", path: "/")))
  }

  @Test func whatIsWrongIsSaid() {
    #expect(status("GET /\r\n\r\n") == 400)
    #expect(status("GET  / HTTP/1.1\r\n\r\n") == 400)
    #expect(status("\r\n\r\n") == 400)
    #expect(status("G{T / HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET http://x/ HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET /%zz HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET /%00 HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET /%ff HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET /é HTTP/1.1\r\n\r\n") == 400)
    #expect(status("GET / HTTP/1.1\r\nno colon\r\n\r\n") == 400)
    #expect(status("GET / HTTP/1.1\r\na b: c\r\n\r\n") == 400)
    #expect(status("GET / HTTP/2.0\r\n\r\n") == 505)
    #expect(status("GET / HTTP/1.1\r\nContent-Length: 5\r\n\r\nabcde") == 413)
    #expect(status("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n") == 413)
    #expect(status("GET / HTTP/1.1\r\n" + String(repeating: "a: b\r\n", count: 101) + "\r\n") == 431)
    #expect(status("GET /" + String(repeating: "a", count: HTTPHead.mostBytes)) == 431)
    #expect(status("GET /" + String(repeating: "a", count: HTTPHead.mostBytes) + " HTTP/1.1\r\n\r\n") == 431)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n") == 413)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 0\r\n\r\n") == nil)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\n") == 400)
    #expect(status("POST / HTTP/1.1\r\nContent-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n") == 413)
    #expect(status("POST / HTTP/1.1\r\nContent-Length : 5\r\n\r\n") == 400)
    #expect(status("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400)
    #expect(status("GET / HTTP/1.1\r\nHost: a\r\n X: folded\r\n\r\n") == 400)
  }

  /// Bytes that nobody meant: never a trap, and the same answer for the same bytes.
  @Test func anyBytes() {
    var random = SeededGenerator(seed: 1)
    let good = Array("GET /debug/undead/heap?by=type&x=%41 HTTP/1.1\r\nHost: a\r\nB: c\r\n\r\n".utf8)
    for _ in 0..<Thorough.count(2000, of: 20_000) {
      var bytes = good
      for _ in 0..<Int.random(in: 1...6, using: &random) {
        let place = Int.random(in: 0..<bytes.count, using: &random)
        switch Int.random(in: 0..<3, using: &random) {
        case 0: bytes[place] = .random(in: 0...255, using: &random)
        case 1: bytes.remove(at: place)
        default: bytes.insert(contentsOf: bytes[place...].prefix(5), at: place)
        }
      }
      let result = HTTPHead.parse(bytes)
      #expect(result == HTTPHead.parse(bytes))
      if case .bad(let status, let text) = result { #expect((400..<506).contains(status) && !text.isEmpty) }
    }
  }

  @Test func theHeadOfAnAnswer() {
    let head = HTTPHead.render(.problem(503, "no", headers: [.init(name: "A", value: "b\r\nC: d")], retryAfter: 3))
    #expect(
      String(decoding: head, as: UTF8.self)
        == "HTTP/1.1 503 Service Unavailable\r\nContent-Type: text/plain; charset=utf-8\r\nA: b\\u{D}\\u{A}C: d\r\n"
        + "Retry-After: 3\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nX-Frame-Options: DENY\r\n"
        + "Referrer-Policy: no-referrer\r\nCross-Origin-Resource-Policy: same-origin\r\n"
        + "Cross-Origin-Opener-Policy: same-origin\r\nContent-Security-Policy: default-src 'none'; base-uri 'none'; "
        + "form-action 'none'; frame-ancestors 'none'\r\nContent-Length: 3\r\nConnection: close\r\n\r\n")
  }

  @Test func textsOfOthersHoldNothingThatATerminalObeys() async throws {
    let answer = UndeadDebugService.Response.problem(404, "nothing at '\u{1B}[2J\u{7F}'")
    #expect(try await answer.body.bytes() == Array("nothing at '\\u{1B}[2J\\u{7F}'\n".utf8))
  }
}
