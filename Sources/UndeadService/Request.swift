extension UndeadDebugService {
  /// What is asked for, as a server that the owner runs has received it.
  public struct Request: Sendable, Equatable {
    /// In capitals: `GET`.
    public var method: String
    /// Without the query, decoded: `/debug/pprof/heap`.
    public var path: String
    /// Names and values of the query, decoded, in order.
    public var query: [QueryItem]
    /// Names and values, names in any case of letters.
    public var headers: [Header]

    /// Makes a request; see the properties for the meaning of each part.
    public init(method: String = "GET", path: String, query: [QueryItem] = [], headers: [Header] = []) {
      self.method = method
      self.path = path
      self.query = query
      self.headers = headers
    }

    /// Makes a request of a path with its query as they stand in a request line: `/debug/pprof/heap?debug=1`.
    ///
    /// - Returns: nil if it is no path that begins with `/`, or escapes in it are not valid.
    public init?(method: String = "GET", target: String, headers: [Header] = []) {
      let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
      guard let first = parts.first, first.hasPrefix("/"), let path = Self.decoded(first) else { return nil }
      self.init(method: method, path: path, headers: headers)
      guard parts.count > 1 else { return }
      for item in parts[1].split(separator: "&") {
        let pair = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = Self.decoded(pair[0], isQuery: true),
          let value = pair.count > 1 ? Self.decoded(pair[1], isQuery: true) : ""
        else { return nil }
        query.append(QueryItem(name: name, value: value))
      }
    }

    /// The value of the first item of a name; nil if there is none, or it is empty.
    package func value(_ name: String) -> String? {
      query.first { $0.name == name }.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    private static func decoded(_ text: Substring, isQuery: Bool = false) -> String? {
      var bytes: [UInt8] = []
      var rest = Array(text.utf8)[...]
      while let byte = rest.popFirst() {
        switch byte {
        case UInt8(ascii: "%"):
          let digits = rest.prefix(2)
          guard digits.count == 2, let high = hexDigit(digits.first), let low = hexDigit(digits.last) else {
            return nil
          }
          bytes.append(high << 4 | low)
          rest = rest.dropFirst(2)
        case UInt8(ascii: "+") where isQuery: bytes.append(UInt8(ascii: " "))
        default: bytes.append(byte)
        }
      }
      guard !bytes.contains(0) else { return nil }
      return String(validating: bytes, as: UTF8.self)
    }

    private static func hexDigit(_ byte: UInt8?) -> UInt8? {
      switch byte {
      case .some(let byte) where (0x30...0x39).contains(byte): byte - 0x30
      case .some(let byte) where (0x41...0x46).contains(byte & 0xDF): (byte & 0xDF) - 0x37
      default: nil
      }
    }
  }

  /// A name in a query, and its value.
  public struct QueryItem: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// A line of a header.
  public struct Header: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }
}
