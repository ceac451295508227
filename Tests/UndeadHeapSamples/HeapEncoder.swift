import Foundation
import UndeadHeap
import UndeadReport

extension HeapBuilder {
  /// The bytes of the file: blocks in address order, whatever the order they were added in.
  package func encoded() -> Data {
    var (snapshot, strings) = (snapshot, strings)
    let fields = holders.map { strings.intern($0.field) }
    let labels = queueLabels.map { strings.intern($0.label) }
    snapshot.strings = strings.table
    var streams = Streams(self)
    let graph = streams.graph()
    let edges = blocks.reduce(0) { $0 + $1.links.count }
    let resident: UInt64 = memory.reduce(0) { $0 &+ $1.resident }
    let counters: [(String, UInt64)] = [
      ("heapBlocks", UInt64(blocks.count)), ("heapEdges", UInt64(edges)), ("heapRootEdges", UInt64(rootEdges.count)),
      ("heapStreamBytes", UInt64(graph.count)), ("residentBytes", resident),
    ]
    for (key, value) in counters where !snapshot.counters.contains(where: { $0.key == key }) {
      snapshot.counters.append(.init(key: key, value: value))
    }
    var sections: [(kind: SnapshotFormat.Section, bytes: [UInt8])] = []
    sections.append((.heapGraph, graph))
    sections.append((.heapShapes, streams.shapeEntries))
    sections.append((.heapSites, Self.entries(sites) { $0.u32($1.stack, $1.generation, $1.flags, $1.sampleMean) }))
    sections.append((.heapPlaces, Self.entries(places, Self.write)))
    sections.append((.heapRoots, Self.entries(roots, Self.write)))
    sections.append((.heapRootEdges, streams.rootEdges()))
    sections.append((.heapRootWords, streams.rootWords()))
    sections.append((.heapHolders, streams.holders(fields)))
    sections.append(
      (
        .heapStacks,
        Self.entries(threadStacks) {
          $0.u32($1.thread, $1.frames)
          $0.u64($1.resident, $1.reserved)
        }
      ))
    sections.append((.heapMemory, Self.entries(memory, Self.write)))
    sections.append((.heapMalloc, Self.entries(malloc) { $0.u64($1.low, $1.high, $1.kind) }))
    sections.append((.heapGenerations, Self.entries(generations, Self.write)))
    sections.append((.heapWaits, Self.entries(waits) { $0.u32($1.shape, $1.stack, $1.status, 0) }))
    sections.append((.heapTasks, Self.entries(tasks, Self.write)))
    sections.append(
      (
        .heapTaskMemory,
        Self.entries(taskMemory) {
          $0.u64($1.task)
          $0.u32($1.block, $1.taskBlock)
        }
      ))
    sections.append((.heapInnerWords, streams.innerWords()))
    sections.append((.heapQueues, streams.queueLabels(labels)))
    sections.append((.census, Self.entries(census, Self.write)))
    sections.append((.allocations, Self.entries(allocations, Self.write)))
    return snapshot.encoded(with: sections.filter { !$0.bytes.isEmpty })
  }

  /// The file as its reader sees it.
  package func file() throws -> HeapFile { try HeapFile(decoding: encoded()) }

  private static func entries<T>(_ items: [T], _ write: (inout SnapshotWriter, T) -> Void) -> [UInt8] {
    var writer = SnapshotWriter()
    for item in items { write(&writer, item) }
    return writer.bytes
  }

  private static func write(_ writer: inout SnapshotWriter, _ place: HeapFile.Place) {
    writer.u32(place.holder, place.offset, place.label, place.declaredType, place.strength, place.flags)
    writer.u64(place.function)
  }

  private static func write(_ writer: inout SnapshotWriter, _ task: HeapFile.Task) {
    writer.u64(task.address, task.parent, task.group, task.waitsFor)
    let last = UInt32(task.dependency.rawValue) | UInt32(task.priority) << 8 | UInt32(task.flags) << 16
    writer.u32(task.id, task.name, task.stack, task.status, last, 0, 0, 0)
  }

  private static func write(_ writer: inout SnapshotWriter, _ place: HeapFile.Allocations) {
    writer.u32(place.stack, 0)
    writer.u64(place.samples, place.objects)
    writer.u64(place.bytes, place.sampledBytes)
  }

  private static func write(_ writer: inout SnapshotWriter, _ root: HeapFile.Root) {
    writer.u32(root.kind, root.name)
    writer.u64(root.address)
    writer.u32(root.thread, root.flags)
  }

  private static func write(_ writer: inout SnapshotWriter, _ line: HeapFile.MemoryLine) {
    writer.u32(line.name, line.kind)
    writer.u64(line.resident, line.reserved)
  }

  private static func write(_ writer: inout SnapshotWriter, _ generation: HeapFile.Generation) {
    writer.u32(generation.number, generation.name)
    writer.u64(generation.time)
  }

  private static func write(_ writer: inout SnapshotWriter, _ line: HeapFile.CensusLine) {
    writer.u32(line.type, 0)
    writer.u64(line.count, line.bytes)
  }
}

/// The varints of heap files.
extension SnapshotWriter {
  package mutating func varint(_ value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      bytes.append(UInt8(rest & 0x7F) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  package mutating func zigzag(_ value: Int) { varint(UInt64(bitPattern: Int64(value << 1 ^ value >> 63))) }
}

/// Makes the streams of a heap.
private struct Streams {
  private let heap: HeapBuilder
  private let order: [Int]
  private var ranks: [Int]
  private var shapes: [[UInt64]: UInt64] = [:]
  private var shapeWriter = SnapshotWriter()
  private let counted: [UInt32]

  init(_ heap: HeapBuilder) {
    self.heap = heap
    order = heap.blocks.indices.sorted { heap.blocks[$0].address < heap.blocks[$1].address }
    ranks = Array(repeating: 0, count: order.count)
    for (rank, block) in order.enumerated() { ranks[block] = rank }
    var counted = [UInt32](repeating: 0, count: order.count)
    for link in heap.blocks.flatMap(\.links) where heap.places[Int(link.place)].strength == 0 {
      counted[link.target] += 1
    }
    for edge in heap.rootEdges where heap.roots[edge.root].kind == HeapFile.Root.global && !heap.roots[edge.root].isWeak
    {
      counted[edge.block] += 1
    }
    self.counted = counted
  }

  var shapeEntries: [UInt8] { shapeWriter.bytes }

  mutating func graph() -> [UInt8] {
    var writer = SnapshotWriter()
    var last: UInt64 = 0
    for (rank, number) in order.enumerated() {
      let block = heap.blocks[number]
      precondition(block.address % 16 == 0, "blocks lie at multiples of 16")
      writer.varint(block.address / 16 - last)
      last = block.address / 16
      let strong = block.strong ?? max(counted[number], 1)
      writer.varint(shape(block, strong))
      writer.varint(UInt64(block.site))
      if block.flags & HeapFile.Shape.countUnknown == 0, strong != 1 { writer.varint(UInt64(strong)) }
      if let use = block.use {
        writer.varint(use.used)
        writer.varint(use.capacity)
      }
      if let hash = block.hash { writer.u64(hash) }
      writer.varint(UInt64(block.links.count))
      for link in block.links {
        writer.varint(UInt64(link.place))
        writer.zigzag(ranks[link.target] - rank)
        if let words = link.neighbours {
          writer.varint(UInt64(words.count))
          for word in words { writer.u64(word) }
        }
      }
    }
    return writer.bytes
  }

  private mutating func shape(_ block: HeapBuilder.BlockRecord, _ strong: UInt32) -> UInt64 {
    var flags = block.flags
    if flags & HeapFile.Shape.countUnknown == 0, strong != 1 { flags |= HeapFile.Shape.hasStrongCount }
    if block.use != nil { flags |= HeapFile.Shape.hasUse }
    if block.hash != nil { flags |= HeapFile.Shape.hasHash }
    let key = [UInt64(block.type), UInt64(flags), block.size]
    if let known = shapes[key] { return known }
    let index = UInt64(shapes.count)
    shapes[key] = index
    shapeWriter.u32(block.type, flags)
    shapeWriter.u64(block.size)
    return index
  }

  private var sortedRootEdges: [(root: Int, block: Int, words: [UInt64]?)] {
    heap.rootEdges.sorted { ($0.root, ranks[$0.block]) < ($1.root, ranks[$1.block]) }
  }

  func holders(_ fields: [StringID]) -> [UInt8] {
    var writer = SnapshotWriter()
    for (holder, field) in zip(heap.holders, fields) {
      writer.u32(UInt32(ranks[holder.block]), holder.descriptor, field, 0)
    }
    return writer.bytes
  }

  func queueLabels(_ labels: [StringID]) -> [UInt8] {
    var writer = SnapshotWriter()
    for (queue, label) in zip(heap.queueLabels, labels) { writer.u32(UInt32(ranks[queue.block]), label) }
    return writer.bytes
  }

  func innerWords() -> [UInt8] {
    var writer = SnapshotWriter()
    for word in heap.innerWords { writer.u64(UInt64(ranks[word.from]), word.task) }
    return writer.bytes
  }

  func rootWords() -> [UInt8] {
    var writer = SnapshotWriter()
    for (number, edge) in sortedRootEdges.enumerated() {
      guard let words = edge.words else { continue }
      writer.u64(UInt64(number))
      for word in words { writer.u64(word) }
    }
    return writer.bytes
  }

  func rootEdges() -> [UInt8] {
    var writer = SnapshotWriter()
    var last = 0
    for edge in sortedRootEdges {
      writer.zigzag(edge.root - last)
      writer.varint(UInt64(ranks[edge.block]))
      last = edge.root
    }
    return writer.bytes
  }
}
