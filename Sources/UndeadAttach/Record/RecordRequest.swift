/// `undead_record_request` of the library (undead_attach.h).
struct RecordRequest {
  var recordsNothing = false
  var zombies = LiveRecording.Zombies(rate: 0)
  var sampleBytes: UInt64 = 0
  private(set) var places: UInt32 = 0
  private(set) var inHook: Int64 = 0
  private(set) var tableBytes: UInt64 = 0
  private(set) var keepsHooks = false
  private(set) var message = ""

  /// What the functions give back.
  enum Status {
    static let done: Int32 = 0
    static let refused: Int32 = 1
    static let already: Int32 = 2
    static let invalid: Int32 = 3
  }

  private static let version: UInt32 = 2
  private static let messageBytes = 512
  static let typesBytes = 512
  private static let zombiesOffset = 56
  private static let fixedBytes = 64
  private static let bytes = fixedBytes + messageBytes + typesBytes

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(number: Self.version)
    bytes.append(number: UInt32(Self.bytes))
    bytes.append(number: recordsNothing ? 2 : 0 as UInt32)
    bytes.append(number: 0 as UInt32)
    bytes.append(number: sampleBytes)
    bytes += [UInt8](repeating: 0, count: Self.zombiesOffset - bytes.count)
    bytes.append(number: zombies.rate)
    bytes += [UInt8](repeating: 0, count: Self.bytes - Self.typesBytes - bytes.count)
    bytes += zombies.types.utf8.prefix(Self.typesBytes - 1)
    return bytes + [UInt8](repeating: 0, count: Self.bytes - bytes.count)
  }

  mutating func readAnswer(_ bytes: [UInt8]) {
    guard bytes.count == Self.bytes else { return }
    bytes.withUnsafeBytes { bytes in
      places = bytes.loadUnaligned(fromByteOffset: 24, as: UInt32.self)
      inHook = bytes.loadUnaligned(fromByteOffset: 32, as: Int64.self)
      tableBytes = bytes.loadUnaligned(fromByteOffset: 48, as: UInt64.self)
      keepsHooks = bytes.loadUnaligned(fromByteOffset: Self.zombiesOffset + 4, as: UInt32.self) != 0
      message = String(decoding: bytes[Self.fixedBytes...].prefix(Self.messageBytes).prefix { $0 != 0 }, as: UTF8.self)
    }
  }
}
