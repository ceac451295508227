import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Snapshot {
  /// Reads a snapshot from the bytes of a file, which need not be trusted.
  ///
  /// - Throws: ``SnapshotError`` that names the byte and what to do.
  package init(decoding bytes: some ContiguousBytes) throws(SnapshotError) {
    let result = bytes.withUnsafeBytes { bytes in
      Result { () throws(SnapshotError) in
        var decoder = try SnapshotDecoder(bytes)
        return try decoder.decode()
      }
    }
    self = try result.get()
  }

  /// Reads the snapshot part of a file whose frame has been checked.
  package init(decoding bytes: UnsafeRawBufferPointer, sections: SnapshotSections) throws(SnapshotError) {
    var decoder = SnapshotDecoder(bytes, sections)
    self = try decoder.decode()
  }

  /// Reads a snapshot file.
  ///
  /// - Throws: ``SnapshotError``; `unreadable` if the file cannot be read at all.
  package init(contentsOfFile path: String) throws(SnapshotError) {
    if let file = FileMemory(path: path) {
      let result = Result { () throws(SnapshotError) in
        var decoder = try SnapshotDecoder(file.bytes, discarding: file)
        return try decoder.decode()
      }
      self = try result.get()
      return
    }
    #if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
      // A pipe, or a file that is empty or too large.
      guard let bytes = WholeFile.read(named: path) else {
        throw SnapshotError(
          .unreadable, byte: 0, "the file cannot be read: \(FileProblem(path: path, code: errno).reason)")
      }
      try self.init(decoding: bytes)
    #else
      let data: Data
      do {
        data = try Data(contentsOf: URL(fileURLWithPath: path), options: .mappedIfSafe)
      } catch {
        let code = ((error as? CocoaError)?.underlying as? POSIXError)?.code.rawValue
        let reason = code.map { FileProblem(path: path, code: $0).reason } ?? "\(error)"
        throw SnapshotError(.unreadable, byte: 0, "the file cannot be read: \(reason)")
      }
      try self.init(decoding: data)
    #endif
  }
}

/// Turns the sections of a snapshot file into values and checks every reference between them.
struct SnapshotDecoder {
  private let bytes: UnsafeRawBufferPointer
  private let sections: SnapshotSections
  private var snapshot = Snapshot()
  private var texts: [StringID: String] = [:]
  private let file: FileMemory?

  /// - Parameter file: gives back what was read of `bytes`, which is its.
  init(_ bytes: UnsafeRawBufferPointer, discarding file: FileMemory? = nil) throws(SnapshotError) {
    self.bytes = bytes
    self.file = file
    sections = try SnapshotSections(bytes)
  }

  init(_ bytes: UnsafeRawBufferPointer, _ sections: SnapshotSections) {
    self.bytes = bytes
    self.sections = sections
    file = nil
  }

  typealias Entry = SnapshotSections.Entry

  mutating func decode() throws(SnapshotError) -> Snapshot {
    snapshot.isComplete = sections.flags & SnapshotFormat.completeFlag != 0
    try decodeStrings()
    try decodeFacts()
    try decodeGraph()
    try decodePaths()
    try decodeTold()
    try decodeSymbols()
    return snapshot
  }

  private func entries<T>(
    _ kind: SnapshotFormat.Section, _ make: (Entry) throws(SnapshotError) -> T
  ) throws(SnapshotError) -> [T] {
    let section = sections[kind]
    var result: [T] = []
    result.reserveCapacity(section.count)
    for number in 0..<section.count {
      result.append(try make(Entry(bytes: bytes, offset: section.offset + number * section.entrySize)))
      if number % 65536 == 65535 { file?.discard(section.offset..<(section.offset + number * section.entrySize)) }
    }
    return result
  }

  // MARK: References

  private func string(_ entry: Entry, _ field: Int) throws(SnapshotError) -> StringID {
    let id = entry.u32(field)
    guard Int(id) < snapshot.strings.bytes.count else {
      throw SnapshotError(
        .damaged, byte: entry.offset + field,
        "string \(id) lies outside of the \(snapshot.strings.bytes.count) bytes of strings")
    }
    return id
  }

  private mutating func text(_ entry: Entry, _ field: Int) throws(SnapshotError) -> String {
    let id = try string(entry, field)
    if let known = texts[id] { return known }
    let text = snapshot.strings[id]
    texts[id] = text
    return text
  }

  private func index(
    _ entry: Entry, _ field: Int, below count: Int, of section: String, allowNone: Bool = true
  ) throws(SnapshotError) -> Snapshot.Index {
    let index = entry.u32(field)
    guard Int(index) < count || (allowNone && index == Snapshot.none) else {
      throw SnapshotError(
        .damaged, byte: entry.offset + field, "entry \(index) of \(section) is meant, there are \(count)")
    }
    return index
  }

  private func checkRange(
    _ entry: Entry, _ field: Int, first: UInt32, count: UInt32, in total: Int, of section: String
  ) throws(SnapshotError) {
    guard UInt64(first) + UInt64(count) <= UInt64(total) else {
      throw SnapshotError(
        .damaged, byte: entry.offset + field,
        "\(count) entries of \(section) from \(first) are meant, there are \(total)")
    }
  }

  // MARK: Sections

  private mutating func decodeStrings() throws(SnapshotError) {
    let section = sections[.strings]
    guard section.count > 0 else { return }
    let slice = UnsafeRawBufferPointer(rebasing: bytes[section.offset..<(section.offset + section.count)])
    guard slice[0] == 0 else {
      throw SnapshotError(.damaged, byte: section.offset, "the strings do not start with the empty one")
    }
    guard slice[slice.count - 1] == 0 else {
      throw SnapshotError(.damaged, byte: section.offset + section.count - 1, "the last string has no end")
    }
    var start = 0
    for (position, byte) in slice.enumerated() where byte == 0 {
      guard position - start <= SnapshotFormat.longestString else {
        throw SnapshotError(
          .damaged, byte: section.offset + start, "a string is longer than \(SnapshotFormat.longestString) bytes")
      }
      start = position + 1
    }
    snapshot.strings = StringTable(validated: [UInt8](slice))
  }

  private mutating func decodeFacts() throws(SnapshotError) {
    snapshot.metadata = try entriesWithText(.metadata) { (decoder, entry) throws(SnapshotError) in
      Snapshot.MetadataEntry(key: try decoder.text(entry, 0), value: try decoder.text(entry, 4))
    }
    snapshot.counters = try entriesWithText(.counters) { (decoder, entry) throws(SnapshotError) in
      Snapshot.Counter(key: try decoder.text(entry, 0), value: entry.u64(8))
    }
    snapshot.modules = try entriesWithText(.modules) { (decoder, entry) throws(SnapshotError) in
      Snapshot.Module(
        low: entry.u64(0), high: entry.u64(8), bias: entry.u64(16), path: try decoder.text(entry, 24),
        buildID: try decoder.text(entry, 28), flags: entry.u32(32))
    }
    snapshot.notes = try entries(.notes) { (entry) throws(SnapshotError) in try string(entry, 0) }
  }

  private mutating func entriesWithText<T>(
    _ kind: SnapshotFormat.Section, _ make: (inout SnapshotDecoder, Entry) throws(SnapshotError) -> T
  ) throws(SnapshotError) -> [T] {
    let section = sections[kind]
    var result: [T] = []
    result.reserveCapacity(section.count)
    for number in 0..<section.count {
      result.append(try make(&self, Entry(bytes: bytes, offset: section.offset + number * section.entrySize)))
    }
    return result
  }

  private mutating func decodeGraph() throws(SnapshotError) {
    snapshot.types = try entries(.types) { (entry) throws(SnapshotError) in
      Snapshot.TypeRecord(
        isa: entry.u64(0), name: try string(entry, 8), kind: Snapshot.Kind(rawValue: entry.u32(12)),
        flags: entry.u32(16))
    }
    snapshot.frames = try entries(.frames) { (entry) throws(SnapshotError) in entry.u64(0) }
    snapshot.stacks = try entries(.stacks) { (entry) throws(SnapshotError) in
      let stack = Snapshot.Stack(first: entry.u32(0), count: entry.u32(4))
      try checkRange(entry, 0, first: stack.first, count: stack.count, in: snapshot.frames.count, of: "FRAMES")
      return stack
    }
    snapshot.nodes = try entries(.nodes) { (entry) throws(SnapshotError) in
      Snapshot.Node(
        address: entry.u64(0), size: entry.u64(8),
        type: try index(entry, 16, below: snapshot.types.count, of: "TYPES"),
        stack: try index(entry, 20, below: snapshot.stacks.count, of: "STACKS"),
        explanation: try index(entry, 24, below: snapshot.stacks.count, of: "STACKS"),
        state: Snapshot.State(rawValue: entry.u32(28)), flags: entry.u32(32),
        strong: UInt16(truncatingIfNeeded: entry.u32(36)), counted: UInt16(truncatingIfNeeded: entry.u32(36) >> 16))
    }
    snapshot.edges = try decodeEdges()
  }

  private func decodeEdges() throws(SnapshotError) -> [Snapshot.Edge] {
    let count = snapshot.nodes.count
    var last: (from: UInt32, offset: UInt32) = (0, 0)
    return try entries(.edges) { (entry) throws(SnapshotError) in
      let edge = Snapshot.Edge(
        from: try index(entry, 0, below: count, of: "NODES", allowNone: false),
        to: try index(entry, 4, below: count, of: "NODES", allowNone: false), offset: entry.u32(8),
        label: try string(entry, 12), declaredType: try string(entry, 16), ownership: entry.u32(20),
        function: entry.u64(24), flags: entry.u32(32))
      guard last <= (edge.from, edge.offset) else {
        throw SnapshotError(.damaged, byte: entry.offset, "the edges are not sorted by node and offset")
      }
      last = (edge.from, edge.offset)
      return edge
    }
  }

  private mutating func decodePaths() throws(SnapshotError) {
    let nodes = snapshot.nodes.count
    snapshot.steps = try entries(.steps) { (entry) throws(SnapshotError) in
      try index(entry, 0, below: snapshot.edges.count, of: "EDGES", allowNone: false)
    }
    snapshot.paths = try entries(.paths) { (entry) throws(SnapshotError) in
      let path = Snapshot.Path(
        rootKind: entry.u32(0), rootName: try string(entry, 4), rootAddress: entry.u64(8), thread: entry.u32(16),
        firstNode: try index(entry, 20, below: nodes, of: "NODES"), firstStep: entry.u32(24),
        stepCount: entry.u32(28), endNode: try index(entry, 32, below: nodes, of: "NODES"))
      try checkRange(
        entry, 24, first: path.firstStep, count: path.stepCount, in: snapshot.steps.count, of: "STEPS")
      return path
    }
    snapshot.owners = try entries(.owners) { (entry) throws(SnapshotError) in
      Snapshot.OwnerRecord(
        path: try index(entry, 0, below: snapshot.paths.count, of: "PATHS", allowNone: false), strong: entry.u32(4),
        counted: entry.u32(8), flags: entry.u32(12))
    }
    snapshot.ownerFields = try entries(.ownerFields) { (entry) throws(SnapshotError) in
      Snapshot.OwnerField(
        node: try index(entry, 0, below: nodes, of: "NODES", allowNone: false), owner: try string(entry, 4),
        field: try string(entry, 8), type: try string(entry, 12))
    }
    snapshot.suspects = try entries(.suspects) { (entry) throws(SnapshotError) in
      Snapshot.SuspectRecord(
        kind: entry.u32(0), node: try index(entry, 4, below: nodes, of: "NODES", allowNone: false),
        mechanism: try index(entry, 8, below: nodes, of: "NODES"),
        path: try index(entry, 12, below: snapshot.paths.count, of: "PATHS"))
    }
    setOutlived()
    let firstAlone = snapshot.suspects.partition { $0.kind & Snapshot.SuspectRecord.alone != 0 }
    snapshot.keptAlone = Array(snapshot.suspects[firstAlone...])
    snapshot.suspects.removeSubrange(firstAlone...)
  }

  /// What should be gone, and that nobody but itself owns, leaked: memory that is no object is not a leak of its own there.
  private mutating func setOutlived() {
    for record in snapshot.suspects where record.isOutlived {
      let type = snapshot.nodes[Int(record.node)].type
      let isMemory = type == Snapshot.none || snapshot.types[Int(type)].kind == .other
      snapshot.nodes[Int(record.node)].state = isMemory ? .support : .leaked
    }
    snapshot.suspects.removeAll(where: \.isOutlived)
  }

  /// What the layers above passed to the instrument.
  private mutating func decodeTold() throws(SnapshotError) {
    let (nodes, stacks) = (snapshot.nodes.count, snapshot.stacks.count)
    snapshot.watched = try entries(.watched) { (entry) throws(SnapshotError) in
      Snapshot.WatchedRecord(
        node: try index(entry, 0, below: nodes, of: "NODES", allowNone: false), scope: try string(entry, 4),
        stack: try index(entry, 8, below: stacks, of: "STACKS"),
        path: try index(entry, 12, below: snapshot.paths.count, of: "PATHS"), flags: entry.u32(16))
    }
    snapshot.loopItems = try entries(.loopItems) { (entry) throws(SnapshotError) in
      Snapshot.LoopItem(
        address: entry.u64(0), node: try index(entry, 8, below: nodes, of: "NODES"), loop: try string(entry, 12),
        modes: try string(entry, 16), kind: try string(entry, 20), name: try string(entry, 24))
    }
    snapshot.diagnostics = try entries(.diagnostics) { (entry) throws(SnapshotError) in
      Snapshot.DiagnosticRecord(
        kind: try string(entry, 0), message: try string(entry, 4), details: try string(entry, 8),
        stack: try index(entry, 12, below: stacks, of: "STACKS"))
    }
    snapshot.traces = try entries(.traces) { (entry) throws(SnapshotError) in
      Snapshot.TraceRecord(
        diagnostic: try index(entry, 0, below: snapshot.diagnostics.count, of: "DIAGNOSTICS", allowNone: false),
        role: try string(entry, 4), stack: try index(entry, 8, below: stacks, of: "STACKS"))
    }
    snapshot.refuted = try entries(.refuted) { (entry) throws(SnapshotError) in
      Snapshot.RefutedRecord(
        address: entry.u64(0), size: entry.u64(8), how: entry.u32(16), type: try string(entry, 20),
        allocation: try index(entry, 24, below: stacks, of: "STACKS"),
        end: try index(entry, 28, below: stacks, of: "STACKS"), calledBy: entry.u32(32), refutedBy: entry.u32(36),
        why: entry.u32(40), flags: entry.u32(44), strong: entry.u32(48), counted: entry.u32(52),
        path: try string(entry, 56))
    }
    let runLoops = sections[.runLoops]
    snapshot.runLoops = [UInt8](bytes[runLoops.offset..<(runLoops.offset + runLoops.count)])
    try decodeZombies()
  }

  private mutating func decodeZombies() throws(SnapshotError) {
    let section = sections[.zombies]
    guard section.count > 0 else { return }
    do {
      let json = Data(bytes[section.offset..<(section.offset + section.count)])
      snapshot.zombies = try JSONDecoder().decode(ZombieFindings.self, from: json)
    } catch {
      throw SnapshotError(.damaged, byte: section.offset, "the zombies are no valid JSON, or not what they should be")
    }
  }

  private mutating func decodeSymbols() throws(SnapshotError) {
    let frames = try entriesWithText(.symbolFrames) { (decoder, entry) throws(SnapshotError) in
      let file = try decoder.text(entry, 4)
      let line = entry.u32(8)
      return Frame(
        symbol: try decoder.text(entry, 0), file: file.isEmpty ? nil : file, line: line == 0 ? nil : Int(line),
        module: try decoder.text(entry, 16), offset: entry.u64(24), inlined: entry.u32(20) & 1 != 0,
        isNear: entry.u32(20) & 2 != 0)
    }
    let section = sections[.symbols]
    var used = 0
    for number in 0..<section.count {
      let entry = Entry(bytes: bytes, offset: section.offset + number * section.entrySize)
      let (first, count) = (entry.u32(8), entry.u32(12))
      try checkRange(entry, 8, first: first, count: count, in: frames.count, of: "SYMBOL FRAMES")
      // Addresses may share frames, but a small file must not expand without bound.
      used += Int(count)
      guard used <= frames.count + 64 * section.count else {
        throw SnapshotError(.damaged, byte: entry.offset + 12, "the symbols share more frames than any program has")
      }
      snapshot.symbols[entry.u64(0)] = Array(frames[Int(first)..<(Int(first) + Int(count))])
    }
  }
}
