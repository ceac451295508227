import UndeadReport

/// The lists that grow while a graph is decoded.
struct HeapBlockLists {
  var addresses: FlatList<UInt64>
  var shapes: FlatList<UInt32>
  var sites: FlatList<UInt32>
  var strongCounts: FlatList<UInt32>
  var firstEdges: FlatList<UInt32>
  var targets: FlatList<UInt32>
  var places: FlatList<UInt32>
  var uses = FlatList<HeapGraph.Use>(capacity: 0)
  var hashes = FlatList<HeapGraph.ContentHash>(capacity: 0)
  var neighbours = FlatList<HeapGraph.Neighbours>(capacity: 0)

  init(blocks: Int, edges: Int) {
    addresses = FlatList(capacity: blocks)
    shapes = FlatList(capacity: blocks)
    sites = FlatList(capacity: blocks)
    strongCounts = FlatList(capacity: blocks)
    firstEdges = FlatList(capacity: blocks + 1)
    targets = FlatList(capacity: edges)
    places = FlatList(capacity: edges)
  }

  /// Gives the memory back if no graph is made of it.
  func deallocate() {
    for list in [shapes, sites, strongCounts, firstEdges, targets, places] { list.base.deallocate() }
    addresses.base.deallocate()
    uses.base.deallocate()
    hashes.base.deallocate()
    neighbours.base.deallocate()
  }
}

/// Decodes HEAP GRAPH and HEAP ROOT EDGES.
///
/// A block's *rank* is its position in the stream, in ascending order of addresses. HEAP GRAPH has for each block: the
/// gap to the one before (in units of 16 bytes), the shape, the site (0: none, else 1 + index), then by flags of the
/// shape the strong count, use and capacity, and 8 bytes of a hash; at last the number of references, and for each the
/// place, the target's rank minus the own one (zigzag), and if the place has neighbours, their number and 8 bytes each:
/// the words at offsets -24 to 24 around the reference. HEAP ROOT EDGES has the root minus that of the entry before
/// (zigzag), and the rank of the target.
struct HeapStreamDecoder {
  /// What the loop asks of a shape. The compiler inlines no constant of another module: they are asked for once for each shape, not
  /// for each block.
  private struct ShapeFacts {
    let size: UInt64
    let hasStrongCount, countUnknown, hasUse, hasHash: Bool

    init(_ shape: HeapFile.Shape) {
      size = shape.size
      hasStrongCount = shape.has(HeapFile.Shape.hasStrongCount)
      countUnknown = shape.has(HeapFile.Shape.countUnknown)
      hasUse = shape.has(HeapFile.Shape.hasUse)
      hasHash = shape.has(HeapFile.Shape.hasHash)
    }
  }

  private let file: HeapFile
  private let start: Int
  private var stream: HeapStream
  private var lists: HeapBlockLists
  private var address: UInt64 = 0
  private var bytes: UInt64 = 0
  private let shapes: [ShapeFacts]
  /// Whether the references of a place have neighbours.
  private let hasNeighbours: [Bool]
  /// The highest rank that a reference names, and where it stands.
  private var highest: (target: UInt32, position: Int) = (0, 0)

  /// Far more than an address space has; sums of bytes stay far from overflow.
  private static let mostBytes: UInt64 = 1 << 57

  init(_ file: HeapFile) {
    self.file = file
    shapes = file.shapes.map(ShapeFacts.init)
    hasNeighbours = file.places.map(\.hasNeighbours)
    let section = file.sections[.heapGraph]
    start = section.offset
    let bytes = UnsafeRawBufferPointer(rebasing: file.bytes[start..<(start + section.count)])
    stream = HeapStream(bytes)
    // The counters save growing; what they say is not trusted: a block takes 4 bytes, a reference 2.
    let blocks = min(Int(clamping: file.snapshot.counter("heapBlocks")), section.count / 4)
    let edges = min(Int(clamping: file.snapshot.counter("heapEdges")), section.count / 2)
    lists = HeapBlockLists(blocks: blocks, edges: edges)
  }

  mutating func decode() throws(SnapshotError) -> HeapGraph {
    do throws(SnapshotError) {
      while !stream.isAtEnd { try decodeBlock() }
      lists.firstEdges.append(UInt32(lists.targets.count))
      let blocks = lists.addresses.count
      if lists.targets.count > 0, Int(highest.target) >= blocks {
        throw damaged(highest.position, "block \(highest.target) is referred to, there are \(blocks)")
      }
      let rootEdges = try decodeRootEdges(blocks: blocks)
      let sum = blocks + lists.targets.count + rootEdges.count + file.roots.count
      guard sum < Int(UInt32.max) - 8, bytes <= Self.mostBytes else {
        rootEdges.deallocate()
        throw damaged(0, "there are more blocks, or bytes of them, than can be")
      }
      return HeapGraph(file, lists, rootEdges: rootEdges)
    } catch {
      lists.deallocate()
      throw error
    }
  }

  private func damaged(_ position: Int, _ text: String) -> SnapshotError {
    SnapshotError(.damaged, byte: start + position, text)
  }

  private mutating func decodeBlock() throws(SnapshotError) {
    let position = stream.position
    let rank = lists.addresses.count
    guard rank < Int(UInt32.max) else { throw damaged(position, "there are more blocks than can be") }
    try decodeAddress(position, rank)
    let shape = stream.small()
    let site = stream.small()
    guard Int(shape) < shapes.count, Int(site) <= file.sites.count else {
      throw damaged(
        position,
        "shape \(shape) and site \(site) are meant, there are \(shapes.count) and \(file.sites.count)")
    }
    lists.shapes.append(shape)
    lists.sites.append(site)
    bytes = min(bytes + shapes[Int(shape)].size, Self.mostBytes + 1)
    decodeFacts(shapes[Int(shape)], rank)
    lists.firstEdges.append(UInt32(truncatingIfNeeded: lists.targets.count))
    try decodeEdges(rank)
    if let failure = stream.failure { throw damaged(stream.position, failure.text) }
  }

  @inline(__always)
  private mutating func decodeAddress(_ position: Int, _ rank: Int) throws(SnapshotError) {
    let (sum, overflow) = address.addingReportingOverflow(stream.number())
    guard !overflow, sum < 1 << 60, rank == 0 || sum > address else {
      throw damaged(position, "the addresses of the blocks do not ascend")
    }
    address = sum
    lists.addresses.append(sum << 4)
  }

  @inline(__always)
  private mutating func decodeFacts(_ shape: ShapeFacts, _ rank: Int) {
    if shape.hasStrongCount {
      lists.strongCounts.append(UInt32(clamping: stream.number()))
    } else {
      lists.strongCounts.append(shape.countUnknown ? HeapGraph.unknownCount : 1)
    }
    if shape.hasUse {
      let used = stream.number()
      lists.uses.append(.init(rank: UInt32(rank), used: used, capacity: stream.number()))
    }
    if shape.hasHash {
      lists.hashes.append(.init(rank: UInt32(rank), hash: stream.word()))
    }
  }

  @inline(__always)
  private mutating func decodeEdges(_ rank: Int) throws(SnapshotError) {
    let position = stream.position
    let count = stream.number()
    guard count <= UInt64(stream.rest / 2), lists.targets.count + Int(count) < Int(UInt32.max) else {
      throw damaged(position, "\(count) references are announced, \(stream.rest) bytes are left")
    }
    for _ in 0..<Int(count) { try decodeEdge(rank) }
  }

  @inline(__always)
  private mutating func decodeEdge(_ rank: Int) throws(SnapshotError) {
    let position = stream.position
    let place = stream.small()
    let distance = stream.signed()
    let (target, overflow) = distance.addingReportingOverflow(Int64(rank))
    guard Int(place) < hasNeighbours.count, !overflow, target >= 0, target < Int64(UInt32.max) else {
      throw damaged(
        position,
        "place \(place) and the block \(distance) after block \(rank) are meant, there are \(file.places.count) places")
    }
    if UInt32(target) > highest.target { highest = (UInt32(target), position) }
    lists.targets.append(UInt32(target))
    lists.places.append(place)
    if hasNeighbours[Int(place)] { decodeNeighbours() }
  }

  private mutating func decodeNeighbours() {
    let count = stream.number()
    guard count <= UInt64(stream.rest / 8) else {
      stream.skip(.max)
      return
    }
    lists.neighbours.append(
      .init(edge: UInt32(lists.targets.count - 1), count: UInt32(clamping: count), offset: start + stream.position))
    stream.skip(Int(count) * 8)
  }

  private func decodeRootEdges(blocks: Int) throws(SnapshotError) -> UnsafeBufferPointer<HeapGraph.RootEdge> {
    let section = file.sections[.heapRootEdges]
    var stream = HeapStream(
      UnsafeRawBufferPointer(rebasing: file.bytes[section.offset..<(section.offset + section.count)]))
    var edges = FlatList<HeapGraph.RootEdge>(
      capacity: min(Int(clamping: file.snapshot.counter("heapRootEdges")), section.count / 2))
    var root: Int64 = 0
    let rootCount = file.roots.count { $0.kind != HeapFile.Root.task }
    while !stream.isAtEnd {
      let position = section.offset + stream.position
      let (next, overflow) = root.addingReportingOverflow(stream.signed())
      let target = stream.number()
      if let failure = stream.failure {
        edges.base.deallocate()
        throw SnapshotError(.damaged, byte: position, failure.text)
      }
      guard !overflow, next >= 0, next < Int64(rootCount), target < UInt64(blocks) else {
        edges.base.deallocate()
        throw SnapshotError(
          .damaged, byte: position,
          "root \(next) and block \(target) are meant, there are \(rootCount) and \(blocks)")
      }
      root = next
      edges.append(.init(root: UInt32(next), target: UInt32(target)))
    }
    // By shape: there are as many blocks as references, and few shapes.
    let taskRoots = file.shapes.indices.map { shape in
      file.shapes[shape].has(HeapFile.Shape.reached) ? file.taskRoots[UInt32(shape)] : nil
    }
    for block in 0..<(file.taskRoots.isEmpty ? 0 : blocks) {
      guard let root = taskRoots[Int(lists.shapes.base[block])] else { continue }
      edges.append(.init(root: root, target: UInt32(block)))
    }
    return edges.taken()
  }
}
