extension UndeadDebugService {
  /// The names under which a server is asked: what a request may have in `Host`.
  ///
  /// A page of another site can give its own name the address of this machine ("DNS rebinding"), and its script then reads
  /// the answers as its own. The browser still sends that name in `Host`. A server that asks for no
  /// authorization therefore answers to its own names only.
  public struct Hosts: Sendable, Equatable {
    /// Nil: any.
    private var names: [String]?
    private var loopbackPort: Int?

    /// Any name, or none: for a UNIX socket, and where who asks must say a password.
    public static let any = Hosts()

    /// `localhost` and addresses of loopback with this port, and others.
    ///
    /// - Parameters:
    ///   - port: on which the server listens; a request without one means 80.
    ///   - others: as they stand in `Host`: `undead.internal:6060`. One without a port is any port.
    public static func loopback(port: Int, others: [String] = []) -> Hosts {
      Hosts(names: others, loopbackPort: port)
    }

    /// These names only, as they stand in `Host`; one without a port is any port.
    public static func named(_ names: [String]) -> Hosts { Hosts(names: names) }

    /// What is wrong with the name that a request asks for; nil if it may be answered.
    func problem(with request: Request) -> Response? {
      guard let names else { return nil }
      let values = request.headers.filter { $0.name.lowercased() == "host" }
      guard values.count == 1, let host = Authority(values[0].value) else {
        return .problem(400, "a request has one header 'Host', with a name or an address and the port")
      }
      guard isAllowed(host, names) else {
        return .problem(
          403, "this server does not go by the name '\(values[0].value.prefix(100))'; ask for localhost with its port")
      }
      return nil
    }

    private func isAllowed(_ host: Authority, _ names: [String]) -> Bool {
      if host.isLoopback, host.port ?? 80 == loopbackPort { return true }
      return names.compactMap(Authority.init).contains { $0.name == host.name && ($0.port ?? host.port) == host.port }
    }
  }

  /// A name or address and a port, as `Host` and `Origin` have them.
  struct Authority: Equatable {
    /// In small letters, without a point at the end; addresses of IPv6 in brackets.
    let name: String
    let port: Int?

    /// - Returns: nil for what is none.
    init?(_ text: String) {
      // Also what a header may have behind its value.
      var rest = text.utf8.drop { $0 == UInt8(ascii: " ") || $0 == 9 }
      while let last = rest.last, last == UInt8(ascii: " ") || last == 9 { rest = rest.dropLast() }
      let isAddress = rest.first == UInt8(ascii: "[")
      let nameEnd =
        isAddress
        ? rest.firstIndex(of: UInt8(ascii: "]")).map { rest.index(after: $0) }
        : rest.firstIndex(of: UInt8(ascii: ":")) ?? rest.endIndex
      guard let nameEnd else { return nil }
      var name = rest[..<nameEnd]
      if !isAddress, name.last == UInt8(ascii: ".") { name = name.dropLast() }
      guard name.count > (isAddress ? 2 : 0), name.count <= 255, name.allSatisfy({ Self.isAllowed($0, isAddress) })
      else { return nil }
      self.name = String(decoding: name, as: UTF8.self).lowercased()
      let port = rest[nameEnd...]
      if port.isEmpty {
        self.port = nil
      } else {
        guard port.first == UInt8(ascii: ":"), (2...6).contains(port.count),
          port.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
          let number = Int(String(decoding: port.dropFirst(), as: UTF8.self)), number < 65536
        else { return nil }
        self.port = number
      }
    }

    private static func isAllowed(_ byte: UInt8, _ isAddress: Bool) -> Bool {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."):
        true
      case UInt8(ascii: "-"), UInt8(ascii: "_"): !isAddress
      case UInt8(ascii: "["), UInt8(ascii: "]"), UInt8(ascii: ":"): isAddress
      default: false
      }
    }

    /// True for the names that no name server can give away. Browsers write addresses in one form only.
    var isLoopback: Bool {
      if name == "localhost" { return true }
      if name.hasPrefix("[") { return name == "[::1]" || name == "[0:0:0:0:0:0:0:1]" || name == "[::ffff:7f00:1]" }
      let parts = name.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count == 4 && parts[0] == "127"
        && parts.dropFirst().allSatisfy { part in
          UInt8(part).map { String($0) == part } ?? false
        }
    }
  }
}

extension UndeadDebugService.Request {
  /// True if a browser sends it for a page of another site: it would do so with the user's password.
  ///
  /// Scripts cannot set these headers. Programs that are no browsers send none of them. A link that is followed is no danger: the other
  /// site does not see the answer, and what changes something is no link.
  var isOfAnotherSite: Bool {
    func values(_ name: String) -> [String] { headers.filter { $0.name.lowercased() == name }.map(\.value) }
    let isLink =
      (method == "GET" || method == "HEAD") && values("sec-fetch-mode") == ["navigate"]
      && values("sec-fetch-dest") == ["document"]
    if !isLink, values("sec-fetch-site").contains(where: { $0 != "same-origin" && $0 != "none" }) { return true }
    let own = values("host").first.flatMap(UndeadDebugService.Authority.init)
    return values("origin").contains { origin in
      guard let start = origin.firstRange(of: "://"), ["http", "https"].contains(origin[..<start.lowerBound]),
        let other = UndeadDebugService.Authority(String(origin[start.upperBound...])), let own
      else { return true }
      let port = origin.hasPrefix("https") ? 443 : 80
      return other.name != own.name || (other.port ?? port) != (own.port ?? port)
    }
  }
}
