/// The fields of one message of Protocol Buffers, in the order of the file.
package struct ProtobufFields {
  package enum Failure: Error {
    case cutOff
    case kind(UInt64)
    case text
  }

  private var numbers: [Int: [UInt64]] = [:]
  private var parts: [Int: [[UInt8]]] = [:]

  package init(_ bytes: [UInt8]) throws {
    var rest = bytes[...]
    while !rest.isEmpty {
      let tag = try Self.varint(&rest)
      let field = Int(tag >> 3)
      switch tag & 7 {
      case 0: numbers[field, default: []].append(try Self.varint(&rest))
      case 2:
        let count = try Self.varint(&rest)
        guard count <= UInt64(rest.count) else { throw Failure.cutOff }
        parts[field, default: []].append(Array(rest.prefix(Int(count))))
        rest = rest.dropFirst(Int(count))
      case let kind: throw Failure.kind(kind)
      }
    }
  }

  private static func varint(_ rest: inout ArraySlice<UInt8>) throws -> UInt64 {
    var (value, shift): (UInt64, UInt64) = (0, 0)
    while let byte = rest.popFirst(), shift < 64 {
      value |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return value }
      shift += 7
    }
    throw Failure.cutOff
  }

  package func number(_ field: Int) -> UInt64 { numbers[field]?.last ?? 0 }
  package func signed(_ field: Int) -> Int64 { Int64(bitPattern: number(field)) }
  package func flag(_ field: Int) -> Bool { number(field) != 0 }

  /// Repeated numbers, packed.
  package func numbers(_ field: Int) throws -> [UInt64] {
    try (parts[field] ?? []).flatMap { part in
      var rest = part[...]
      var values: [UInt64] = []
      while !rest.isEmpty { values.append(try Self.varint(&rest)) }
      return values
    }
  }

  package func signed(_ field: Int) throws -> [Int64] { try numbers(field).map(Int64.init(bitPattern:)) }

  package func messages(_ field: Int) throws -> [ProtobufFields] { try (parts[field] ?? []).map { try Self($0) } }

  package func texts(_ field: Int) throws -> [String] {
    try (parts[field] ?? []).map { part in
      guard let text = String(validating: part, as: UTF8.self) else { throw Failure.text }
      return text
    }
  }
}
