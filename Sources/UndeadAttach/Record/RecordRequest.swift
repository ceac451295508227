/// `undead_record_request` of the library (undead_attach.h).
struct RecordRequest {
  var withoutBacktraces = false
  var depth: UInt32 = 0
  var sampleBytes: UInt64 = 0
  private(set) var places: UInt32 = 0
  private(set) var inHook: Int64 = 0
  private(set) var tableBytes: UInt64 = 0
  private(set) var message = ""

  /// What the functions give back.
  enum Status {
    static let done: Int32 = 0
    static let refused: Int32 = 1
    static let already: Int32 = 2
    static let invalid: Int32 = 3
  }

  private static let version: UInt32 = 1
  private static let messageBytes = 512
  private static let fixedBytes = 56

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: Self.version)
    bytes.append(number: UInt32(Self.fixedBytes + Self.messageBytes))
    bytes.append(number: withoutBacktraces ? 1 : 0 as UInt32)
    bytes.append(number: depth)
    bytes.append(number: sampleBytes)
    return bytes + [UInt8](repeating: 0, count: Self.fixedBytes + Self.messageBytes - bytes.count)
  }

  mutating func readAnswer(_ bytes: [UInt8]) {
    guard bytes.count == Self.fixedBytes + Self.messageBytes else { return }
    bytes.withUnsafeBytes { bytes in
      places = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
      inHook = bytes.loadUnaligned(fromByteOffset: 32, as: Int64.self)
      tableBytes = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
      message = String(decoding: bytes[Self.fixedBytes...].prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
