import UndeadReport

/// How many blocks of each shape were allocated at each site.
///
/// All of the graph that a profile needs: it is read as a stream, so the memory for it depends on the number of sites, not
/// of blocks.
package struct HeapSiteCounts {
  /// Blocks that look alike and were allocated alike.
  package struct Key: Hashable, Comparable {
    /// Index of HEAP SHAPES.
    package var shape: UInt32
    /// 0 for none, else 1 + index of HEAP SITES.
    package var site: UInt32

    package static func < (a: Key, b: Key) -> Bool { (a.shape, a.site) < (b.shape, b.site) }
  }

  package private(set) var counts: [Key: Int] = [:]
  /// All blocks.
  package private(set) var blocks = 0

  /// Counts; what the references say is passed over unchecked.
  ///
  /// - Throws: ``SnapshotError`` if the graph is damaged.
  package init(_ file: HeapFile) throws(SnapshotError) {
    let section = file.sections[.heapGraph]
    var stream = HeapStream(
      UnsafeRawBufferPointer(rebasing: file.bytes[section.offset..<(section.offset + section.count)]))
    while !stream.isAtEnd {
      let position = stream.position
      _ = stream.number()
      let key = Key(shape: stream.small(), site: stream.small())
      guard Int(key.shape) < file.shapes.count, Int(key.site) <= file.sites.count else {
        throw SnapshotError(
          .damaged, byte: section.offset + position,
          "shape \(key.shape) and site \(key.site) are meant, there are \(file.shapes.count) and \(file.sites.count)")
      }
      Self.skipFacts(file.shapes[Int(key.shape)].flags, &stream)
      try Self.skipReferences(file, &stream, section.offset)
      if let failure = stream.failure {
        throw SnapshotError(.damaged, byte: section.offset + stream.position, failure.text)
      }
      counts[key, default: 0] += 1
      blocks += 1
    }
  }

  private static func skipFacts(_ flags: UInt32, _ stream: inout HeapStream) {
    if flags & HeapFile.Shape.hasStrongCount != 0 { _ = stream.number() }
    if flags & HeapFile.Shape.hasUse != 0 {
      _ = stream.number()
      _ = stream.number()
    }
    if flags & HeapFile.Shape.hasHash != 0 { _ = stream.word() }
  }

  private static func skipReferences(
    _ file: HeapFile, _ stream: inout HeapStream, _ start: Int
  ) throws(SnapshotError) {
    let position = stream.position
    let count = stream.number()
    guard count <= UInt64(stream.rest / 2) else {
      throw SnapshotError(
        .damaged, byte: start + position, "\(count) references are announced, \(stream.rest) bytes are left")
    }
    for _ in 0..<Int(count) {
      let place = Int(stream.small())
      _ = stream.number()
      guard place < file.places.count else {
        throw SnapshotError(
          .damaged, byte: start + position, "place \(place) is meant, there are \(file.places.count)")
      }
      guard file.places[place].hasNeighbours else { continue }
      let words = stream.number()
      stream.skip(words <= UInt64(stream.rest / 8) ? Int(words) * 8 : .max)
    }
  }
}

extension HeapTypes {
  /// Number of the type of blocks in ``groups``, as ``Heap/group(_:)`` has it of one block.
  package func group(_ key: HeapSiteCounts.Key, in file: HeapFile) -> UInt32 {
    let group = groupOfShape[Int(key.shape)]
    guard group == foreign else { return group }
    return key.site > 0 && file.sites[Int(key.site) - 1].isRaw ? raw : foreign
  }
}
