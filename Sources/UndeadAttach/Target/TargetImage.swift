import UndeadSystem

/// A loaded ELF file of another process, read from the process's memory: the file may be another one meanwhile, or lie in
/// another container.
package struct TargetImage {
  package let path: String
  package let start: UInt64
  /// What is added to addresses in the file.
  package let bias: UInt64
  /// The names that the file goes by, "" without one.
  package let soname: String
  /// Pieces of its code.
  package let code: [Range<UInt64>]

  private let memory: TargetMemory
  private let symbols: UInt64
  private let strings: UInt64
  private let stringBytes: UInt64
  private let versions: UInt64
  private let hash: UInt64

  private enum Tag {
    static let strings: UInt64 = 5
    static let symbols: UInt64 = 6
    static let stringBytes: UInt64 = 10
    static let soname: UInt64 = 14
    static let hash: UInt64 = 0x6fff_fef5
    static let versions: UInt64 = 0x6fff_fff0
  }

  /// - Returns: nil if no ELF file of 64 bits with symbols for the loader begins there.
  package init?(path: String, start: UInt64, memory: TargetMemory) {
    guard let bytes = memory.read(at: start, count: ELFHeader.size), let header = ELFHeader(Bytes(bytes)),
      header.segments.offset < 1 << 20, header.segments.count < 256
    else { return nil }
    let segments = header.segments { memory.read(at: start + $0, count: $1) ?? [] }
    guard segments.count == header.segments.count else { return nil }
    var dynamic: UInt64?
    var first = UInt64.max
    var last: UInt64 = 0
    var code: [(UInt64, UInt64)] = []
    for segment in segments {
      guard segment.address < 1 << 47, segment.memorySize < 1 << 47 else { return nil }
      let end = segment.address + segment.memorySize
      if segment.kind == ELFSegment.Kind.load {
        first = min(first, segment.address & ~4095)
        last = max(last, end)
        if segment.isExecutable { code.append((segment.address, end)) }
      }
      if segment.kind == ELFSegment.Kind.dynamic { dynamic = segment.address }
    }
    guard let dynamic, first < last else { return nil }
    let bias = start &- first
    self.path = path
    self.start = start
    self.bias = bias
    self.memory = memory
    self.code = code.map { bias &+ $0.0..<bias &+ $0.1 }
    var values: [UInt64: UInt64] = [:]
    for index in 0..<512 as Range<UInt64> {
      let entry = bias &+ dynamic &+ index * 16
      guard let tag = memory.load(UInt64.self, at: entry), let value = memory.load(UInt64.self, at: entry + 8) else {
        return nil
      }
      if tag == 0 { break }
      values[tag] = value
    }
    // The loader of glibc has put the addresses right; others leave them as they are in the file.
    let moved = { (value: UInt64?) -> UInt64 in
      guard let value else { return 0 }
      return value >= start && value < bias &+ last ? value : value &+ bias
    }
    guard values[Tag.symbols] != nil, values[Tag.strings] != nil else { return nil }
    symbols = moved(values[Tag.symbols])
    strings = moved(values[Tag.strings])
    stringBytes = values[Tag.stringBytes] ?? 0
    hash = values[Tag.hash] == nil ? 0 : moved(values[Tag.hash])
    versions = values[Tag.versions] == nil ? 0 : moved(values[Tag.versions])
    soname = values[Tag.soname].flatMap { memory.text(at: moved(values[Tag.strings]) &+ $0, limit: 256) } ?? ""
  }

  /// A symbol that the loader knows.
  package struct Symbol: Equatable {
    package let address: UInt64
    package let size: UInt64
    package let type: UInt8
  }

  /// The default version of a symbol that the image defines.
  package func symbol(_ name: String) -> Symbol? {
    guard hash != 0 else { return nil }
    var value: UInt32 = 5381
    for byte in name.utf8 { value = value &* 33 &+ UInt32(byte) }
    guard let buckets = memory.load(UInt32.self, at: hash), buckets > 0,
      let first = memory.load(UInt32.self, at: hash + 4), let blooms = memory.load(UInt32.self, at: hash + 8)
    else { return nil }
    let bucketTable = hash + 16 + UInt64(blooms) * 8
    guard var index = memory.load(UInt32.self, at: bucketTable + UInt64(value % buckets) * 4), index >= first else {
      return nil
    }
    let chain = bucketTable + UInt64(buckets) * 4
    var found: Symbol?
    for _ in 0..<4096 {
      guard let entry = memory.load(UInt32.self, at: chain + UInt64(index &- first) * 4) else { return found }
      if entry | 1 == value | 1, let symbol = symbol(at: index, named: name) {
        let version = versions == 0 ? 0 : memory.load(UInt16.self, at: versions &+ UInt64(index) * 2) ?? 0
        // Bit 15: kept for programs that were linked long ago.
        if version & 0x8000 == 0 { return symbol }
        found = found ?? symbol
      }
      if entry & 1 != 0 { return found }
      index &+= 1
    }
    return found
  }

  package func address(of name: String) -> UInt64? { symbol(name)?.address }

  private func symbol(at index: UInt32, named name: String) -> Symbol? {
    let entry = symbols &+ UInt64(index) * 24
    guard let nameOffset = memory.load(UInt32.self, at: entry), UInt64(nameOffset) < stringBytes,
      let info = memory.load(UInt8.self, at: entry + 4), let section = memory.load(UInt16.self, at: entry + 6),
      let value = memory.load(UInt64.self, at: entry + 8), let size = memory.load(UInt64.self, at: entry + 16),
      section != 0, value != 0,
      memory.read(at: strings &+ UInt64(nameOffset), count: name.utf8.count + 1) == Array(name.utf8) + [0]
    else { return nil }
    return Symbol(address: bias &+ value, size: size, type: info & 0xF)
  }

  /// Where a sequence of bytes is in the code.
  package func find(_ pattern: [UInt8]) -> UInt64? {
    for piece in code where piece.count < 1 << 30 {
      guard let bytes = memory.read(at: piece.lowerBound, count: Int(piece.count)) else { continue }
      let hit = bytes.withUnsafeBytes { Self.place(of: pattern, in: $0) }
      if let hit { return piece.lowerBound + UInt64(hit) }
    }
    return nil
  }

  /// Megabytes are looked through: by the C library, as release builds do not optimise this module.
  private static func place(of pattern: [UInt8], in bytes: UnsafeRawBufferPointer) -> Int? {
    guard var at = bytes.baseAddress else { return nil }
    let end = at + bytes.count
    while end - at >= pattern.count, let hit = memchr(at, Int32(pattern[0]), end - at - pattern.count + 1) {
      if memcmp(hit, pattern, pattern.count) == 0 { return UnsafeRawPointer(hit) - bytes.baseAddress! }
      at = UnsafeRawPointer(hit) + 1
    }
    return nil
  }
}
