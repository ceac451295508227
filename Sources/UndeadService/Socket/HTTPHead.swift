#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import UndeadSystem

/// The head of a request: of HTTP/1.x what a client of the socket needs, and no more.
package enum HTTPHead {
  package enum Result: Equatable {
    /// The blank line has not come yet.
    case incomplete
    case request(UndeadDebugService.Request)
    case bad(status: Int, String)
  }

  /// A longer head is refused.
  static let mostBytes = 16 << 10
  private static let mostHeaders = 100

  /// Reads what has come so far.
  package static func parse(_ bytes: [UInt8]) -> Result {
    guard let end = end(of: bytes) else {
      return bytes.count < mostBytes ? .incomplete : .bad(status: 431, "the head of the request is too long")
    }
    guard end <= mostBytes else { return .bad(status: 431, "the head of the request is too long") }
    let lines = bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(text)
    guard let first = lines.first ?? nil, !lines.contains(nil) else {
      return .bad(status: 400, "the head of the request is not ASCII text")
    }
    let parts = first.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 3, !parts[0].isEmpty, parts[0].allSatisfy(isTokenCharacter) else {
      return .bad(status: 400, "the first line of the request is not 'METHOD PATH HTTP/1.1'")
    }
    guard parts[2] == "HTTP/1.1" || parts[2] == "HTTP/1.0" else {
      return .bad(status: parts[2].hasPrefix("HTTP/") ? 505 : 400, "only HTTP/1.1 is understood here")
    }
    return request(String(parts[0]), String(parts[1]), lines.dropFirst().compactMap(\.self))
  }

  private static func request(_ method: String, _ target: String, _ lines: [String]) -> Result {
    var headers: [UndeadDebugService.Header] = []
    for line in lines where !line.isEmpty {
      let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, !parts[0].isEmpty, parts[0].allSatisfy(isTokenCharacter) else {
        return .bad(status: 400, "a line of the header is not 'NAME: VALUE'")
      }
      guard headers.count < mostHeaders else { return .bad(status: 431, "there are too many lines in the header") }
      let value = parts[1].drop { $0 == " " || $0 == "\t" }
      headers.append(.init(name: parts[0].lowercased(), value: String(value)))
    }
    // Two lengths, or a length and an encoding, are how a request is smuggled in another one. None has a body here.
    let lengths = headers.filter { $0.name == "content-length" }
    guard lengths.count <= 1 else { return .bad(status: 400, "the header has more than one length") }
    if lengths.contains(where: { $0.value != "0" }) || headers.contains(where: { $0.name == "transfer-encoding" }) {
      return .bad(status: 413, "a request has no body here")
    }
    guard headers.count(where: { $0.name == "host" }) <= 1 else {
      return .bad(status: 400, "the header has more than one host")
    }
    guard let request = UndeadDebugService.Request(method: method, target: target, headers: headers) else {
      return .bad(status: 400, "the path of the request is not valid")
    }
    return .request(request)
  }

  /// Where the blank line begins.
  private static func end(of bytes: [UInt8]) -> Int? {
    var isBlank = false
    var start = 0
    for (place, byte) in bytes.enumerated() {
      switch byte {
      case UInt8(ascii: "\n"):
        if isBlank { return start }
        (isBlank, start) = (true, place + 1)
      case UInt8(ascii: "\r"): break
      default: isBlank = false
      }
    }
    return nil
  }

  /// A line without its return; nil if there are control characters in it, or what is not ASCII.
  private static func text(_ line: ArraySlice<UInt8>) -> String? {
    let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
    guard line.allSatisfy({ $0 >= 32 && $0 < 127 || $0 == 9 }) else { return nil }
    return String(decoding: line, as: UTF8.self)
  }

  private static func isTokenCharacter(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
  }

  /// The head of an answer, up to and with the blank line. The connection is closed after each.
  static func render(_ response: UndeadDebugService.Response) -> [UInt8] {
    var text = "HTTP/1.1 \(response.status) \(reason(response.status))\r\nContent-Type: \(response.contentType)\r\n"
    for header in response.headers { text += "\(header.name): \(VisibleText.line(header.value))\r\n" }
    if let length = response.contentLength { text += "Content-Length: \(length)\r\n" }
    return Array((text + "Connection: close\r\n\r\n").utf8)
  }

  private static func reason(_ status: Int) -> String {
    switch status {
    case 200: "OK"
    case 301: "Moved Permanently"
    case 400: "Bad Request"
    case 403: "Forbidden"
    case 404: "Not Found"
    case 405: "Method Not Allowed"
    case 408: "Request Timeout"
    case 413: "Content Too Large"
    case 429: "Too Many Requests"
    case 431: "Request Header Fields Too Large"
    case 500: "Internal Server Error"
    case 501: "Not Implemented"
    case 503: "Service Unavailable"
    case 505: "HTTP Version Not Supported"
    case 507: "Insufficient Storage"
    default: "Answer"
    }
  }
}
#endif
