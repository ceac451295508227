import UndeadReport
import UndeadSystem

/// The graph of a heap file in flat buffers: compressed sparse rows, blocks known by their rank in address order.
///
/// Indices were checked when it was decoded. The buffers live as long as the graph; never keep one longer.
package final class HeapGraph {
  package let file: HeapFile
  /// Number of blocks.
  package let count: Int
  package let addresses: UnsafeBufferPointer<UInt64>
  /// Index of ``HeapFile/shapes`` of each block.
  package let shapes: UnsafeBufferPointer<UInt32>
  /// 0 for none, else 1 + index of ``HeapFile/sites``.
  package let sites: UnsafeBufferPointer<UInt32>
  /// Strong references of each block; ``unknownCount`` where it is not known, 1 where none was written.
  package let strongCounts: UnsafeBufferPointer<UInt32>
  /// `count` + 1 numbers: the references of block b are those from `firstEdges[b]` up to `firstEdges[b + 1]`.
  package let firstEdges: UnsafeBufferPointer<UInt32>
  /// Rank of the block that each reference refers to.
  package let targets: UnsafeBufferPointer<UInt32>
  /// Index of ``HeapFile/places`` of each reference.
  package let places: UnsafeBufferPointer<UInt32>
  package let rootEdges: UnsafeBufferPointer<RootEdge>
  /// Ascending by rank; only blocks that have them.
  package let uses: UnsafeBufferPointer<Use>
  /// Ascending by rank; only blocks that have one.
  package let hashes: UnsafeBufferPointer<ContentHash>
  /// Ascending by reference; only references that have them.
  package let neighbours: UnsafeBufferPointer<Neighbours>

  package static let unknownCount = UInt32.max

  /// A reference from a root.
  package struct RootEdge: BitwiseCopyable {
    /// Index of ``HeapFile/roots``.
    package var root: UInt32
    package var target: UInt32
  }

  /// How much of a collection, string or Data is in use, in elements or bytes.
  package struct Use: BitwiseCopyable {
    package var rank: UInt32
    package var used: UInt64
    package var capacity: UInt64
  }

  /// Hash of the contents of a block: equal ones have equal contents.
  package struct ContentHash: BitwiseCopyable {
    package var rank: UInt32
    package var hash: UInt64
  }

  /// Words around a reference that may be a slice.
  package struct Neighbours: BitwiseCopyable {
    package var edge: UInt32
    package var count: UInt32
    /// Where the words lie in the file.
    package var offset: Int
  }

  init(_ file: HeapFile, _ blocks: consuming HeapBlockLists, rootEdges: UnsafeBufferPointer<RootEdge>) {
    self.file = file
    count = blocks.addresses.count
    addresses = blocks.addresses.taken()
    shapes = blocks.shapes.taken()
    sites = blocks.sites.taken()
    strongCounts = blocks.strongCounts.taken()
    firstEdges = blocks.firstEdges.taken()
    targets = blocks.targets.taken()
    places = blocks.places.taken()
    uses = blocks.uses.taken()
    hashes = blocks.hashes.taken()
    neighbours = blocks.neighbours.taken()
    self.rootEdges = rootEdges
  }

  deinit {
    for buffer in [shapes, sites, strongCounts, firstEdges, targets, places] { buffer.deallocate() }
    addresses.deallocate()
    rootEdges.deallocate()
    uses.deallocate()
    hashes.deallocate()
    neighbours.deallocate()
  }

  /// The shape of a block.
  package func shape(_ block: Int) -> HeapFile.Shape { file.shapes[Int(shapes[block])] }

  /// Usable bytes of a block.
  package func size(_ block: Int) -> UInt64 { shape(block).size }

  /// Where and when a block was allocated; nil if that was not recorded.
  package func site(_ block: Int) -> HeapFile.Site? {
    sites[block] == 0 ? nil : file.sites[Int(sites[block]) - 1]
  }

  /// Index of STACKS of a block's allocation; none if it was not recorded.
  package func stack(_ block: Int) -> Snapshot.Index { site(block)?.stack ?? Snapshot.none }

  /// How much of a block is in use; nil if that is not known.
  package func use(of block: Int) -> Use? { uses.first { $0.rank == UInt32(block) } }

  /// The references of a block, as positions in `targets` and `places`.
  package func edges(of block: Int) -> Range<Int> { Int(firstEdges[block])..<Int(firstEdges[block + 1]) }

  /// The place of a reference.
  package func place(_ edge: Int) -> HeapFile.Place { file.places[Int(places[edge])] }

  /// The block whose reference it is.
  package func source(of edge: Int) -> Int {
    (0..<count).partitioningIndex { Int(firstEdges[$0 + 1]) > edge }
  }

  /// The block that an address lies in; nil if it is in none.
  ///
  /// - Parameter near: a block that lies not far from there, if one is known.
  package func block(containing address: UInt64, near: Int? = nil) -> Int? {
    var range = 0..<count
    if let near, count > 0 {
      // Steps that double, as most are a few blocks away.
      let start = min(near, count - 1)
      let isAbove = addresses[start] <= address
      var step = 1
      while isAbove
        ? start + step < count && addresses[start + step] <= address
        : start - step >= 0 && addresses[start - step] > address
      { step *= 2 }
      range = isAbove ? start..<min(start + step, count) : max(start - step, 0)..<start
    }
    let block = range.partitioningIndex { addresses[$0] > address } - 1
    guard block >= 0 else { return nil }
    let distance = address - addresses[block]
    return distance == 0 || distance < size(block) ? block : nil
  }

  /// The words around a reference, as written: see Neighbours in the description of the format.
  package func words(around neighbours: Neighbours) -> [UInt64] {
    (0..<Int(neighbours.count)).map { SnapshotSections.load(file.bytes, neighbours.offset + 8 * $0) }
  }
}
