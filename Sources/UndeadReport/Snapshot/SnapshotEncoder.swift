import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Snapshot {
  /// The snapshot as the bytes of a file that every reader of its version takes; the same bytes for the same value.
  package func encoded() -> Data {
    encoded(with: [])
  }

  /// The same with further sections, whose strings are those of the snapshot.
  package func encoded(with sections: [(kind: SnapshotFormat.Section, bytes: [UInt8])]) -> Data {
    var encoder = SnapshotEncoder(self)
    return encoder.encode(sections)
  }
}

/// Writes the sections of a snapshot behind the header and their directory.
///
/// Each entry is written once, to where it stays: a snapshot may have a million objects.
private struct SnapshotEncoder {
  private typealias Part = (kind: SnapshotFormat.Section, size: Int, write: (inout FileWriter) -> Void)

  private let snapshot: Snapshot
  private var strings: StringInterner
  private var table: [Part] = []

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    strings = StringInterner(snapshot.strings)
  }

  mutating func encode(_ further: [(kind: SnapshotFormat.Section, bytes: [UInt8])]) -> Data {
    addFacts()
    addGraph()
    addPaths()
    addTold()
    for section in snapshot.symbols.encoded(&strings) where !section.bytes.isEmpty { add(section.kind, section.bytes) }
    for section in further { add(section.kind, section.bytes) }
    let texts = strings.table.bytes
    table.insert((.strings, texts.count, { $0.add(texts) }), at: 0)
    return assemble()
  }

  private mutating func add(_ kind: SnapshotFormat.Section, _ bytes: [UInt8]) {
    table.append((kind, bytes.count, { $0.add(bytes) }))
  }

  private mutating func add<T>(
    _ kind: SnapshotFormat.Section, _ items: [T], _ write: @escaping (inout FileWriter, T) -> Void
  ) {
    guard !items.isEmpty else { return }
    table.append((kind, items.count * kind.entrySize, { writer in for item in items { write(&writer, item) } }))
  }

  private mutating func addFacts() {
    let metadata = snapshot.metadata.map { (strings.intern($0.key), strings.intern($0.value)) }
    add(.metadata, metadata) { $0.u32($1.0, $1.1) }
    let counters = snapshot.counters.map { (strings.intern($0.key), $0.value) }
    add(.counters, counters) {
      $0.u32($1.0, 0)
      $0.u64($1.1)
    }
    let modules = snapshot.modules.map { ($0, strings.intern($0.path), strings.intern($0.buildID)) }
    add(.modules, modules) { writer, module in
      writer.u64(module.0.low, module.0.high, module.0.bias)
      writer.u32(module.1, module.2, module.0.flags, 0)
    }
    add(.notes, snapshot.notes) { $0.u32($1) }
  }

  private mutating func addGraph() {
    add(.types, snapshot.types) {
      $0.u64($1.isa)
      $0.u32($1.name, $1.kind.rawValue, $1.flags, 0)
    }
    add(.nodes, snapshot.nodes) {
      $0.u64($1.address, $1.size)
      $0.u32($1.type, $1.stack, $1.explanation, $1.state.rawValue, $1.flags)
      $0.u32(UInt32($1.strong) | UInt32($1.counted) << 16)
    }
    add(.edges, snapshot.edges) {
      $0.u32($1.from, $1.to, $1.offset, $1.label, $1.declaredType, $1.ownership)
      $0.u64($1.function)
      $0.u32($1.flags, 0)
    }
    add(.stacks, snapshot.stacks) { $0.u32($1.first, $1.count) }
    add(.frames, snapshot.frames) { $0.u64($1) }
  }

  private mutating func addPaths() {
    add(.paths, snapshot.paths) {
      $0.u32($1.rootKind, $1.rootName)
      $0.u64($1.rootAddress)
      $0.u32($1.thread, $1.firstNode, $1.firstStep, $1.stepCount, $1.endNode, 0)
    }
    add(.steps, snapshot.steps) { $0.u32($1) }
    add(.owners, snapshot.owners) { $0.u32($1.path, $1.strong, $1.counted, $1.flags) }
    add(.ownerFields, snapshot.ownerFields) { $0.u32($1.node, $1.owner, $1.field, $1.type) }
    add(.suspects, snapshot.suspects + snapshot.keptAlone) { $0.u32($1.kind, $1.node, $1.mechanism, $1.path) }
  }

  private mutating func addTold() {
    add(.diagnostics, snapshot.diagnostics) { $0.u32($1.kind, $1.message, $1.details, $1.stack) }
    add(.traces, snapshot.traces) { $0.u32($1.diagnostic, $1.role, $1.stack, 0) }
    add(.watched, snapshot.watched) { $0.u32($1.node, $1.scope, $1.stack, $1.path, $1.flags, 0) }
    add(.loopItems, snapshot.loopItems) {
      $0.u64($1.address)
      $0.u32($1.node, $1.loop, $1.modes, $1.kind, $1.name, 0)
    }
    add(.refuted, snapshot.refuted) {
      $0.u64($1.address, $1.size)
      $0.u32($1.how, $1.type, $1.allocation, $1.end, $1.calledBy, $1.refutedBy, $1.why, $1.flags)
      $0.u32($1.strong, $1.counted, $1.path, 0)
    }
    if !snapshot.runLoops.isEmpty { add(.runLoops, snapshot.runLoops) }
    // Texts and numbers: there is nothing in them that JSON could not say.
    if !snapshot.zombies.isEmpty, let json = try? JSONRenderer.encode(snapshot.zombies) {
      add(.zombies, [UInt8](json))
    }
  }

  private func assemble() -> Data {
    let start = SnapshotFormat.headerSize + table.count * SnapshotFormat.sectionEntrySize
    let size = table.reduce(start) { $0 + ($1.size + 7) & ~7 }
    var file = FileWriter(size: size)
    file.add(SnapshotFormat.magic)
    file.u32(Snapshot.formatVersion, UInt32(SnapshotFormat.headerSize))
    file.u64(UInt64(size), 0)
    file.u32(UInt32(table.count), snapshot.isComplete ? SnapshotFormat.completeFlag : 0)
    file.u32(SnapshotFormat.byteOrderMark, SnapshotFormat.pointerSize)
    file.u64(0, 0)
    var offset = start
    for part in table {
      let entrySize = part.kind.entrySize
      file.u32(part.kind.rawValue, UInt32(entrySize))
      file.u64(UInt64(offset), UInt64(part.size), UInt64(part.size / entrySize))
      offset += (part.size + 7) & ~7
    }
    for part in table {
      part.write(&file)
      file.pad()
    }
    return file.finish()
  }
}

/// A file of a known size in memory.
private struct FileWriter {
  private let bytes: UnsafeMutableRawBufferPointer
  private var count = 0

  init(size: Int) {
    bytes = .allocate(byteCount: size, alignment: 16)
  }

  mutating func u32(_ values: UInt32...) {
    for value in values { put(value.littleEndian) }
  }

  mutating func u64(_ values: UInt64...) {
    for value in values { put(value.littleEndian) }
  }

  private mutating func put<Number: FixedWidthInteger & BitwiseCopyable>(_ value: Number) {
    bytes.storeBytes(of: value, toByteOffset: count, as: Number.self)
    count += MemoryLayout<Number>.size
  }

  mutating func add(_ values: [UInt8]) {
    UnsafeMutableRawBufferPointer(rebasing: bytes[count..<(count + values.count)]).copyBytes(from: values)
    count += values.count
  }

  mutating func pad() {
    while count % 8 != 0 { put(UInt8(0)) }
  }

  /// The file with its checksum.
  func finish() -> Data {
    precondition(count == bytes.count)
    let checksum = SnapshotFormat.checksum(UnsafeRawBufferPointer(bytes))
    bytes.storeBytes(of: checksum.littleEndian, toByteOffset: 24, as: UInt64.self)
    guard let start = bytes.baseAddress else { return Data() }
    return Data(bytesNoCopy: start, count: bytes.count, deallocator: .custom { start, _ in start.deallocate() })
  }
}

/// Little-endian bytes of entries.
package struct SnapshotWriter {
  package var bytes: [UInt8] = []

  package init() {}

  package mutating func u32(_ values: UInt32...) {
    for value in values { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
  }

  package mutating func u64(_ values: UInt64...) {
    for value in values { withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) } }
  }
}

extension SymbolTable {
  /// The entries of SYMBOLS and SYMBOL FRAMES, by ascending address.
  package func encoded(_ strings: inout StringInterner) -> [(kind: SnapshotFormat.Section, bytes: [UInt8])] {
    var (ranges, entries) = (SnapshotWriter(), SnapshotWriter())
    var first: UInt32 = 0
    for (address, found) in frames.ordered(by: { $0.key < $1.key }) {
      ranges.u64(address)
      ranges.u32(first, UInt32(found.count))
      first += UInt32(found.count)
      for frame in found {
        entries.u32(
          strings.intern(frame.symbol), strings.intern(frame.file ?? ""), UInt32(clamping: frame.line ?? 0), 0,
          strings.intern(frame.module), (frame.inlined ? 1 : 0) | (frame.isNear ? 2 : 0))
        entries.u64(frame.offset)
      }
    }
    return [(.symbols, ranges.bytes), (.symbolFrames, entries.bytes)]
  }
}
