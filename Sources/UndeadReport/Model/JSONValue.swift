extension LeakReport {
  /// Any JSON, for parts of a report that another layer made and whose keys only that layer knows.
  public enum JSONValue: Codable, Sendable, Hashable {
    case null
    case bool(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public init(from decoder: any Decoder) throws {
      let value = try decoder.singleValueContainer()
      if value.decodeNil() {
        self = .null
      } else if let bool = try? value.decode(Bool.self) {
        self = .bool(bool)
      } else if let integer = try? value.decode(Int.self) {
        self = .integer(integer)
      } else if let number = try? value.decode(Double.self) {
        self = .number(number)
      } else if let string = try? value.decode(String.self) {
        self = .string(string)
      } else if let array = try? value.decode([JSONValue].self) {
        self = .array(array)
      } else {
        self = .object(try value.decode([String: JSONValue].self))
      }
    }

    public func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      switch self {
      case .null: try container.encodeNil()
      case .bool(let bool): try container.encode(bool)
      case .integer(let integer): try container.encode(integer)
      case .number(let number): try container.encode(number)
      case .string(let string): try container.encode(string)
      case .array(let array): try container.encode(array)
      case .object(let object): try container.encode(object)
      }
    }
  }
}

extension JSONValue {
  /// The value of a key of an object; nil for anything else.
  package subscript(key: String) -> LeakReport.JSONValue? {
    if case .object(let object) = self { object[key] } else { nil }
  }

  /// The elements of an array; empty for anything else.
  package var elements: [LeakReport.JSONValue] {
    if case .array(let array) = self { array } else { [] }
  }

  /// The text of a string; nil for anything else.
  package var text: String? {
    if case .string(let text) = self { text } else { nil }
  }

  /// A number; nil for anything else.
  package var double: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .number(let number): number
    default: nil
    }
  }

  /// A truth value; nil for anything else.
  package var truth: Bool? {
    if case .bool(let truth) = self { truth } else { nil }
  }
}
