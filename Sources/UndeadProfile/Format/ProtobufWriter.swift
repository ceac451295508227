/// Writes fields in the wire format of Protocol Buffers, version 3: numbers of 0 are left out, and repeated numbers are packed.
struct ProtobufWriter {
  private(set) var bytes: [UInt8] = []

  private enum Kind: UInt64 {
    case varint = 0
    case lengthDelimited = 2
  }

  mutating func write(_ field: Int, _ value: UInt64) {
    guard value != 0 else { return }
    tag(field, .varint)
    varint(value)
  }

  mutating func write(_ field: Int, _ value: Int64) {
    write(field, UInt64(bitPattern: value))
  }

  mutating func write(_ field: Int, _ values: [UInt64]) {
    guard !values.isEmpty else { return }
    var packed = ProtobufWriter()
    for value in values { packed.varint(value) }
    part(field, packed.bytes)
  }

  mutating func write(_ field: Int, _ values: [Int64]) {
    write(field, values.map(UInt64.init(bitPattern:)))
  }

  mutating func write(_ field: Int, _ texts: [String]) {
    for text in texts { part(field, text.utf8) }
  }

  mutating func write(_ field: Int, _ messages: [some ProtobufMessage]) {
    for message in messages { part(field, message.serialized) }
  }

  private mutating func part(_ field: Int, _ content: some Collection<UInt8>) {
    tag(field, .lengthDelimited)
    varint(UInt64(content.count))
    bytes += content
  }

  private mutating func tag(_ field: Int, _ kind: Kind) {
    varint(UInt64(field) << 3 | kind.rawValue)
  }

  private mutating func varint(_ value: UInt64) {
    var rest = value
    while rest > 0x7F {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }
}
