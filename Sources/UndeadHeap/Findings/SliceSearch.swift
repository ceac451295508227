import UndeadReport
import UndeadSystem

/// Large buffers that only small slices keep alive.
///
/// A reference is taken for a slice only if the words around it say so beyond doubt; one owner of another kind, or one that is
/// not known, and the buffer is not reported.
struct SliceSearch {
  private let heap: LoadedHeap
  /// By buffer: how many elements its slices show, and how many slices there are.
  private var slices: [Int: (elements: UInt64, count: Int)] = [:]
  /// References that were understood, or that are parts of such slices.
  private var understood: Set<Int> = []

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var search = SliceSearch(heap)
    search.readSlices()
    search.removeBuffersWithOtherOwners()
    var tally = PlaceTally<UInt32>()
    for (buffer, found) in search.slices.sorted(by: { $0.key < $1.key }) {
      guard let use = search.use(of: buffer), found.elements < use.capacity / 4 else { continue }
      let retained = heap.dominators.retained[buffer]
      let (high, low) = retained.multipliedFullWidth(by: use.capacity - found.elements)
      tally.add(places.holder[buffer], buffer, bytes: use.capacity.dividingFullWidth((high, low)).quotient)
    }
    return tally.entries.filter { $0.value.bytes >= limits.bytes }.map { place, entry in
      HeapFindingDraft(
        kind: .sliceOfLargeBuffer,
        title: "\(entry.objects == 1 ? "a large buffer is" : "large buffers are") kept by small slices",
        objects: entry.objects, bytes: entry.bytes, block: entry.block, container: places.name(Int(place)),
        advice: "copy what is kept: String(substring), Array(slice) or Data(slice) lets the large buffer go")
    }
  }

  private init(_ heap: LoadedHeap) { self.heap = heap }

  private func use(of block: Int) -> HeapGraph.Use? {
    let uses = heap.graph.uses
    let index = uses.partitioningIndex { Int($0.rank) >= block }
    return index < uses.count && Int(uses[index].rank) == block ? uses[index] : nil
  }

  private mutating func readSlices() {
    var interior: [(edge: Int, holder: Int, buffer: Int)] = []
    var holders: Set<[Int]> = []
    for record in heap.graph.neighbours where record.count >= 7 {
      let edge = Int(record.edge)
      let buffer = Int(heap.graph.targets[edge])
      let holder = heap.graph.source(of: edge)
      let words = heap.graph.words(around: record)
      guard words[3] & Self.addressMask == heap.graph.addresses[buffer] else {
        interior.append((edge, holder, buffer))
        continue
      }
      guard let elements = elements(words, of: buffer) else { continue }
      slices[buffer, default: (0, 0)].elements &+= elements
      slices[buffer, default: (0, 0)].count += 1
      understood.insert(edge)
      holders.insert([holder, buffer])
    }
    // A slice of an array also has the address of the elements.
    for entry in interior where holders.contains([entry.holder, entry.buffer]) { understood.insert(entry.edge) }
  }

  /// Without the bits that distinguish representations.
  private static let addressMask: UInt64 = 0x0FFF_FFFF_FFFF_FFF8

  /// How many elements, or bytes, a slice shows; nil if it is none.
  private func elements(_ words: [UInt64], of buffer: Int) -> UInt64? {
    guard let use = use(of: buffer) else { return nil }
    switch heap.types.groups[heap.group(buffer)].storage {
    case .string: return Self.ofSubstring(words, use)
    case .data: return Self.ofData(words, use)
    case .array: return Self.ofArray(words, use, address: heap.graph.addresses[buffer])
    default: return nil
    }
  }

  /// Substring: two indices (StringIndex.swift: the position in the upper 48 bits), then a String, whose count and flags come
  /// before the reference (StringObject.swift).
  private static func ofSubstring(_ words: [UInt64], _ use: HeapGraph.Use) -> UInt64? {
    let (start, end, count) = (words[0], words[1], words[2])
    let isAligned: UInt64 = 1
    guard count >> 48 & 0x7000 == 0x7000, count & 0xFFFF_FFFF_FFFF == use.used, start & end & isAligned != 0,
      start >> 16 <= end >> 16, end >> 16 <= use.used, start & 0xF000 == 0, end & 0xF000 == 0
    else { return nil }
    return (end >> 16) - (start >> 16)
  }

  /// Data: a range of 32-bit numbers, then the storage with a tag for this representation (Data+InlineSlice.swift).
  private static func ofData(_ words: [UInt64], _ use: HeapGraph.Use) -> UInt64? {
    let (low, high) = (words[2] & 0xFFFF_FFFF, words[2] >> 32)
    let isInlineSlice = words[3] >> 62 == 1
    guard isInlineSlice, low <= high, high <= use.used else { return nil }
    return high - low
  }

  /// ArraySlice: the owner, the address of the element 0, the first index, the index behind the last one with a flag
  /// (SliceBuffer.swift).
  private static func ofArray(_ words: [UInt64], _ use: HeapGraph.Use, address: UInt64) -> UInt64? {
    let (base, start, end) = (words[4], words[5], words[6] >> 1)
    let header: UInt64 = 32
    guard base == address + header, start <= end, end <= use.used else { return nil }
    return end - start
  }

  private mutating func removeBuffersWithOtherOwners() {
    guard !slices.isEmpty else { return }
    let graph = heap.graph
    for edge in 0..<graph.targets.count where heap.ownership.owns[edge] {
      let target = Int(graph.targets[edge])
      if slices[target] != nil, !understood.contains(edge) { slices[target] = nil }
    }
    for (number, edge) in graph.rootEdges.enumerated() where heap.ownership.rootOwns[number] {
      slices[Int(edge.target)] = nil
    }
    for (buffer, found) in slices {
      let strong = graph.strongCounts[buffer]
      if strong == HeapGraph.unknownCount || Int(strong) > found.count { slices[buffer] = nil }
    }
  }
}
