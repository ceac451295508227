import Foundation

/// Writes core files as a kernel does.
struct CoreBuilder {
  struct Segment {
    var address: UInt64
    var size: UInt64
    var flags: UInt32 = 6
    var dumped: [UInt8] = []
    /// In the header; nil for what was dumped.
    var declared: UInt64?
  }

  var segments: [Segment] = []
  var notes: [UInt8] = []
  var identity: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1]
  var kind: UInt16 = 4
  var machine: UInt16 = 62
  /// The number of segments goes where kernels put it if the header has no room for it.
  var countsInSection = false

  static let page: UInt64 = 4096

  // MARK: Notes

  mutating func note(_ name: String, _ type: UInt32, _ content: [UInt8]) {
    notes.add(UInt32(name.utf8.count + 1))
    notes.add(UInt32(content.count))
    notes.add(type)
    notes += Array(name.utf8) + [0]
    notes.pad(to: 4)
    notes += content
    notes.pad(to: 4)
  }

  mutating func thread(_ id: Int32, signal: Int16 = 0, fsBase: UInt64 = 0, stack: UInt64 = 0, systemCall: Int64 = -1) {
    var content = [UInt8](repeating: 0, count: 336)
    content.put(signal, at: 12)
    content.put(id, at: 32)
    for (register, value) in [(15, UInt64(bitPattern: systemCall)), (16, 0x40_1000), (19, stack), (21, fsBase)] {
      content.put(value, at: 112 + register * 8)
    }
    note("CORE", 1, content)
  }

  mutating func process(_ id: Int32, name: String, arguments: String) {
    var content = [UInt8](repeating: 0, count: 136)
    content.put(id, at: 24)
    content.replaceSubrange(40..<40 + name.utf8.count, with: name.utf8)
    content.replaceSubrange(56..<56 + arguments.utf8.count, with: arguments.utf8)
    note("CORE", 3, content)
  }

  mutating func auxiliary(_ values: [(UInt64, UInt64)]) {
    var content: [UInt8] = []
    for (key, value) in values + [(0, 0)] {
      content.add(key)
      content.add(value)
    }
    note("CORE", 6, content)
  }

  mutating func files(_ files: [(low: UInt64, high: UInt64, page: UInt64, path: String)]) {
    var content: [UInt8] = []
    content.add(UInt64(files.count))
    content.add(Self.page)
    for file in files {
      content.add(file.low)
      content.add(file.high)
      content.add(file.page)
    }
    for file in files { content += Array(file.path.utf8) + [0] }
    note("CORE", 0x4649_4C45, content)
  }

  // MARK: File

  func encoded() -> [UInt8] {
    let count = segments.count + 1
    let headers: UInt64 = 64
    let notesStart = headers + UInt64(count) * 56
    var place = (notesStart + UInt64(notes.count) + 4095) & ~4095
    var file = identity + [UInt8](repeating: 0, count: 64 - identity.count)
    file.put(kind, at: 16)
    file.put(machine, at: 18)
    file.put(headers, at: 32)
    file.put(UInt16(56), at: 54)
    file.put(countsInSection ? 0xFFFF : UInt16(count), at: 56)
    file.header(4, 0, notesStart, 0, UInt64(notes.count), 0)
    var contents: [(UInt64, [UInt8])] = []
    for segment in segments {
      let size = segment.declared ?? UInt64(segment.dumped.count)
      file.header(1, segment.flags, place, segment.address, size, segment.size)
      contents.append((place, segment.dumped))
      place = (place + size + 4095) & ~4095
    }
    file += notes
    for (offset, content) in contents where !content.isEmpty {
      file += [UInt8](repeating: 0, count: Int(offset) - file.count) + content
    }
    if countsInSection {
      file.pad(to: 64)
      file.put(UInt64(file.count), at: 40)
      file.put(UInt16(64), at: 58)
      var section = [UInt8](repeating: 0, count: 64)
      section.put(UInt32(count), at: 44)
      file += section
    }
    return file
  }
}

extension [UInt8] {
  mutating func put<Number: FixedWidthInteger>(_ number: Number, at offset: Int) {
    Swift.withUnsafeBytes(of: number.littleEndian) { replaceSubrange(offset..<offset + $0.count, with: $0) }
  }

  mutating func add<Number: FixedWidthInteger>(_ number: Number) {
    Swift.withUnsafeBytes(of: number.littleEndian) { append(contentsOf: $0) }
  }

  mutating func pad(to alignment: Int) { while count % alignment != 0 { append(0) } }

  fileprivate mutating func header(
    _ kind: UInt32, _ flags: UInt32, _ offset: UInt64, _ address: UInt64, _ fileSize: UInt64, _ memorySize: UInt64
  ) {
    add(kind)
    add(flags)
    for number in [offset, address, 0, fileSize, memorySize, CoreBuilder.page] { add(number) }
  }
}
