#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ZombieLog {
  /// Reads a log from the bytes of a file, which need not be trusted.
  ///
  /// - Returns: nil for a file whose process had not begun to write it.
  /// - Throws: ``ZombieLogError`` that names the byte.
  package static func decode(_ bytes: some ContiguousBytes) throws(ZombieLogError) -> ZombieLog? {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(ZombieLogError) in
        guard bytes.prefix(headerSize).contains(where: { $0 != 0 }) else { return ZombieLog?.none }
        var decoder = try ZombieLogDecoder(bytes)
        return try decoder.decode()
      }
    }
    return try result.get()
  }

  static let magic = Array("UNDEADZO".utf8)
  static let headerSize = 256
  static let counterOffset = 56
  /// Of the number of bytes that are written.
  package static let usedOffset = 32
}

/// Turns the records of a zombie log into values; never reads outside of the file.
struct ZombieLogDecoder {
  private let bytes: UnsafeRawBufferPointer
  /// Where the records end.
  private let end: Int
  private var log: ZombieLog

  /// Checks the header.
  init(_ bytes: UnsafeRawBufferPointer) throws(ZombieLogError) {
    self.bytes = bytes
    guard bytes.count >= ZombieLog.headerSize else {
      throw ZombieLogError(
        byte: bytes.count, detail: "the header has \(ZombieLog.headerSize) bytes, the file \(bytes.count)")
    }
    guard bytes.starts(with: ZombieLog.magic) else {
      throw ZombieLogError(byte: 0, detail: "it does not start with the bytes of a log of zombies")
    }
    let version: UInt32 = SnapshotSections.load(bytes, 8)
    guard version == ZombieLog.formatVersion else {
      throw ZombieLogError(byte: 8, detail: "version \(version), this undead reads \(ZombieLog.formatVersion)")
    }
    let header: UInt32 = SnapshotSections.load(bytes, 12)
    guard header == UInt32(ZombieLog.headerSize) else {
      throw ZombieLogError(byte: 12, detail: "the header size is \(header), not \(ZombieLog.headerSize)")
    }
    let used: UInt64 = SnapshotSections.load(bytes, ZombieLog.usedOffset)
    guard used >= UInt64(ZombieLog.headerSize), used <= UInt64(bytes.count), used % 8 == 0 else {
      throw ZombieLogError(byte: 32, detail: "\(used) bytes are said to be used, the file has \(bytes.count)")
    }
    end = Int(used)
    log = ZombieLog(
      pid: SnapshotSections.load(bytes, 16), generation: SnapshotSections.load(bytes, 20),
      flags: SnapshotSections.load(bytes, 24),
      signal: SnapshotSections.load(bytes, 28), lost: SnapshotSections.load(bytes, 48))
    for (number, name) in ZombieLog.Counters.names.enumerated() {
      log.counters[name] = SnapshotSections.load(bytes, ZombieLog.counterOffset + 8 * number)
    }
  }

  private func load<T: FixedWidthInteger>(_ offset: Int) -> T { SnapshotSections.load(bytes, offset) }

  /// Reads all records.
  mutating func decode() throws(ZombieLogError) -> ZombieLog {
    var offset = ZombieLog.headerSize
    while offset < end {
      // `end` is a multiple of 8, as is every size, so the two words are there.
      let size: UInt32 = load(offset)
      guard size >= 8, size % 8 == 0, Int(size) <= end - offset else {
        throw ZombieLogError(byte: offset, detail: "a record of \(size) bytes, with \(end - offset) bytes left")
      }
      let record = offset..<(offset + Int(size))
      let type: UInt32 = load(offset + 4)
      switch type {
      case 1:
        let event = try event(record)
        if event.kind != Self.void { log.events.append(event) }
      case 2: log.moduleLists.append(try modules(record))
      default: break
      }
      offset = record.upperBound
    }
    return log
  }

  // MARK: Zombies

  private static let eventSize = 88
  /// Of a retain that a later record explains.
  private static let void: UInt32 = 0

  private func event(_ record: Range<Int>) throws(ZombieLogError) -> ZombieLog.Event {
    guard record.count >= Self.eventSize else {
      throw ZombieLogError(byte: record.lowerBound, detail: "a zombie of \(record.count) bytes")
    }
    let start = record.lowerBound
    let counts: [UInt32] = [load(start + 72), load(start + 76), load(start + 80)]
    let textSize: UInt32 = load(start + 84)
    let frameCount = counts.reduce(0) { $0 + UInt64($1) }
    let textStart = UInt64(start + Self.eventSize) + 8 * frameCount
    guard textStart + UInt64(textSize) <= UInt64(record.upperBound) else {
      throw ZombieLogError(
        byte: start + 72, detail: "\(frameCount) frames and \(textSize) bytes of texts in a record of \(record.count)")
    }
    let textRange = Int(textStart)..<(Int(textStart) + Int(textSize))
    let texts = try texts(textRange, count: 5)
    var event = ZombieLog.Event(kind: load(start + 8), object: load(start + 24), type: texts[0])
    event.flags = load(start + 12)
    event.accessor = load(start + 16)
    let fieldOffset: UInt32 = load(start + 20)
    event.fieldOffset = fieldOffset == .max ? nil : fieldOffset
    event.implementation = load(start + 32)
    event.accessTime = load(start + 40)
    event.deathTime = load(start + 48)
    event.count = max(load(start + 56), 1)
    event.thread = load(start + 64)
    event.deathThread = load(start + 68)
    (event.field, event.threadName, event.deathThreadName, event.details) = (texts[1], texts[2], texts[3], texts[4])
    var frames = start + Self.eventSize
    event.allocation = addresses(&frames, counts[0])
    event.deallocation = addresses(&frames, counts[1])
    event.access = addresses(&frames, counts[2])
    event.modules = log.moduleLists.isEmpty ? nil : log.moduleLists.count - 1
    return event
  }

  private func addresses(_ offset: inout Int, _ count: UInt32) -> [UInt64] {
    let first = offset
    offset += 8 * Int(count)
    return stride(from: first, to: offset, by: 8).map { load($0) }
  }

  /// Texts that end with a zero byte each.
  private func texts(_ range: Range<Int>, count: Int) throws(ZombieLogError) -> [String] {
    var texts: [String] = []
    var start = range.lowerBound
    while texts.count < count {
      guard let zero = bytes[start..<range.upperBound].firstIndex(of: 0) else {
        throw ZombieLogError(byte: start, detail: "text \(texts.count + 1) of \(count) has no end")
      }
      texts.append(String(decoding: bytes[start..<zero], as: UTF8.self))
      start = zero + 1
    }
    return texts
  }

  // MARK: Modules

  private static let moduleSize = 32

  private func modules(_ record: Range<Int>) throws(ZombieLogError) -> [Snapshot.Module] {
    guard record.count >= 16 else {
      throw ZombieLogError(byte: record.lowerBound, detail: "a list of modules of \(record.count) bytes")
    }
    let count: UInt32 = load(record.lowerBound + 8)
    var modules: [Snapshot.Module] = []
    var offset = record.lowerBound + 16
    for number in 0..<count {
      guard record.upperBound - offset >= Self.moduleSize else {
        throw ZombieLogError(byte: offset, detail: "module \(number + 1) of \(count) lies outside of its record")
      }
      let textSize: UInt32 = load(offset + 24)
      let textStart = offset + Self.moduleSize
      guard Int(textSize) <= record.upperBound - textStart else {
        throw ZombieLogError(byte: offset + 24, detail: "\(textSize) bytes of texts lie outside of their record")
      }
      let texts = try texts(textStart..<(textStart + Int(textSize)), count: 2)
      modules.append(
        Snapshot.Module(
          low: load(offset), high: load(offset + 8), bias: load(offset + 16), path: texts[0], buildID: texts[1],
          flags: Self.isSystem(texts[0]) ? 1 : 0))
      // The padding to a multiple of 8 may reach to the end of the record, not beyond it.
      offset = min(textStart + (Int(textSize) + 7) / 8 * 8, record.upperBound)
    }
    return modules
  }

  private static func isSystem(_ path: String) -> Bool {
    ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"].contains { path.hasPrefix($0) }
  }
}
