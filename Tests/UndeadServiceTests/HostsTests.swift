import Testing

@testable import UndeadService

/// Who is refused by what browsers say: names of other sites in `Host`, pages of other sites.
@Suite struct HostsTests {
  private let service = UndeadDebugService(configuration: .init(labels: [:]))
  private typealias Header = UndeadDebugService.Header

  private func status(
    _ headers: [(String, String)], _ hosts: UndeadDebugService.Hosts, method: String = "GET"
  ) async -> Int {
    let target = method == "POST" ? "/debug/undead/mark" : "/debug/undead/"
    let headers = headers.map { Header(name: $0.0, value: $0.1) }
    return await service.respond(to: .init(method: method, path: target, headers: headers), hosts: hosts).status
  }

  @Test(arguments: [
    "localhost:6060", "LOCALHOST:6060", "localhost.:6060", "127.0.0.1:6060", "127.1.2.3:6060", "[::1]:6060",
    "[0:0:0:0:0:0:0:1]:6060", " localhost:6060 ", "\tlocalhost:6060\t", "[::ffff:7f00:1]:6060", "undead.internal:6060",
    "Undead.Internal.:6060", "any.port:1",
    "any.port",
  ]) func ownNames(host: String) async {
    let hosts = UndeadDebugService.Hosts.loopback(port: 6060, others: ["undead.internal:6060", "any.port"])
    #expect(await status([("Host", host)], hosts) == 200)
    #expect(await status([("hOST", host)], hosts) == 200)
  }

  @Test(arguments: [
    "evil.example:6060", "evil.example", "localhost", "localhost:80", "localhost:6061", "localhost.evil.example:6060",
    "127.0.0.1.evil.example:6060", "127.0.0.1.nip.io:6060", "128.0.0.1:6060", "0.0.0.0:6060", "127.0.0.01:6060",
    "127.0.1:6060", "127..0.0.1:6060", "127.0.0.256:6060", "2130706433:6060", "[::2]:6060", "[::1f]:6060",
    "localhost..:6060", "undead.internal:6061",
  ]) func otherNames(host: String) async {
    let hosts = UndeadDebugService.Hosts.loopback(port: 6060, others: ["undead.internal:6060"])
    #expect(await status([("Host", host)], hosts) == 403)
  }

  @Test(arguments: [
    "[::1%25lo]:6060", "localhost:6060:6060", "localhost:", "localhost:+6060", "localhost:06060x", "localhost:65536",
    "localhost:0000001", "user@localhost:6060", "localhost:6060/", "localhost,evil:6060", "[::1]6060", "[::1]x6060",
    "[]:6060",
    "[::a-b]:6060", "a]b:6060", "", " ", ".", "localhost\u{0}:6060", "l\u{F6}calhost:6060",
    String(repeating: "a", count: 256),
  ]) func noNames(host: String) async {
    #expect(await status([("Host", host)], .loopback(port: 6060)) == 400)
  }

  @Test func oneNameIsNeeded() async {
    let hosts = UndeadDebugService.Hosts.loopback(port: 6060)
    #expect(await status([], hosts) == 400)
    #expect(await status([("Host", "localhost:6060"), ("host", "localhost:6060")], hosts) == 400)
    #expect(await status([("Host", "evil.example:6060"), ("Host", "localhost:6060")], hosts) == 400)
    #expect(await status([("Host", "localhost")], .loopback(port: 80)) == 200)
    #expect(await status([], .any) == 200)
    #expect(await status([("Host", "a:1")], .named(["a:1"])) == 200)
    #expect(await status([("Host", "localhost:1")], .named(["a:1"])) == 403)
  }

  /// 400: who may mark did not say how the mark is called.
  @Test func pagesOfOtherSitesMayNotAsk() async {
    let host = ("Host", "localhost:6060")
    let refused: [[(String, String)]] = [
      [("Origin", "http://evil.example")], [("Origin", "null")], [("Origin", "http://localhost:3000")],
      [("Origin", "https://localhost:6060.evil.example")], [("Origin", "https://localhost")], [("Origin", "")],
      [("Sec-Fetch-Site", "cross-site")], [("Sec-Fetch-Site", "same-site")],
      [("Sec-Fetch-Site", "same-origin"), ("Sec-Fetch-Site", "cross-site")],
      [("Origin", "http://localhost:6060"), ("Sec-Fetch-Site", "cross-site")],
      [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "iframe")],
      [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "cors"), ("Sec-Fetch-Dest", "document")],
      [("Origin", "http://localhost:6060"), ("Origin", "http://evil.example")],
      [("Origin", "http://evil.example:6060")], [("Origin", "ftp://localhost:6060")],
    ]
    for headers in refused {
      #expect(await status([host] + headers, .any, method: "POST") == 403, "\(headers)")
      #expect(await status([host] + headers, .any) == 403, "\(headers)")
    }
    let link = [("Sec-Fetch-Site", "cross-site"), ("Sec-Fetch-Mode", "navigate"), ("Sec-Fetch-Dest", "document")]
    #expect(await status([host] + link, .any) == 200)
    #expect(await status([host] + link, .any, method: "HEAD") == 200)
    for name in ["localhost", "localhost:443"] {
      #expect(await status([("Host", name), ("Origin", "https://localhost")], .any) == 200, "\(name)")
    }
    #expect(await status([host] + link, .any, method: "POST") == 403)
    for headers in [
      [], [("Origin", "http://localhost:6060")],
      [("Sec-Fetch-Site", "same-origin")], [("Sec-Fetch-Site", "none")],
    ] {
      #expect(await status([host] + headers, .any, method: "POST") == 400, "\(headers)")
      #expect(await status([host] + headers, .any) == 200, "\(headers)")
    }
  }

  @Test func browsersAreToldToKeepAndGuessNothing() async {
    for path in ["/debug/undead/", "/debug/undead", "/nothing"] {
      let answer = await service.respond(to: .init(path: path))
      #expect(answer.header("Cache-Control") == "no-store" && answer.header("X-Content-Type-Options") == "nosniff")
      #expect(answer.header("Content-Security-Policy")?.contains("frame-ancestors 'none'") ?? false)
      #expect(answer.header("Referrer-Policy") == "no-referrer")
      #expect(answer.header("Access-Control-Allow-Origin") == nil)
    }
  }
}
