import UndeadReport
import UndeadSystem

/// Large buffers that only small slices keep alive.
///
/// A reference is taken for a slice only if the words around it say so beyond doubt; one owner of another kind, or one that is
/// not known, and the buffer is not reported. Slices lie in objects, in global variables and on the stacks of threads.
struct SliceSearch {
  private struct Slices {
    /// What they show together.
    var elements: UInt64 = 0
    var count = 0
    /// The same of those on stacks and in frames of tasks, where a word more or less is easily left over.
    var onStacks: (elements: UInt64, count: Int, met: Set<[UInt64]>) = (0, 0, [])
    /// A word that is no slice names the buffer, and may own it: of a thread, a frame, or memory of which nothing is known.
    var isNamedElsewhere = false
  }

  /// A place, and what lies there.
  private struct Key: Hashable {
    var place: UInt32
    var storage: HeapTypes.Storage
  }

  private let heap: LoadedHeap
  private var slices: [Int: Slices] = [:]
  /// References that were understood, or that are parts of such slices.
  private var understood: Set<Int> = []
  private var understoodRoots: Set<Int> = []

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var search = SliceSearch(heap)
    search.readSlices()
    search.removeBuffersWithOtherOwners()
    var tally = PlaceTally<Key>()
    var shown: [Key: UInt64] = [:]
    for (buffer, found) in search.slices.ordered(by: { $0.key < $1.key }) {
      guard let use = search.use(of: buffer), found.elements < use.capacity / 4 else { continue }
      let retained = heap.dominators.retained[buffer]
      func bytes(of elements: UInt64) -> UInt64 {
        let (high, low) = retained.multipliedFullWidth(by: elements)
        return use.capacity.dividingFullWidth((high, low)).quotient
      }
      let key = Key(place: places.holder[buffer], storage: search.storage(of: buffer)!)
      tally.add(key, buffer, bytes: bytes(of: use.capacity - found.elements))
      shown[key, default: 0] &+= key.storage == .array ? bytes(of: found.elements) : found.elements
    }
    return tally.entries.filter { $0.value.bytes >= limits.bytes }.map { key, entry in
      let container = places.name(Int(key.place))
      // What the indices of an own collection count, its code says.
      let condition = container.field.contains("[...].") ? ", if the collection's indices count these elements" : ""
      return HeapFindingDraft(
        kind: .sliceOfLargeBuffer,
        title: "\(entry.objects == 1 ? "a large buffer is" : "large buffers are") kept by small slices",
        objects: entry.objects, bytes: entry.bytes, usedBytes: shown[key], block: entry.block,
        container: container, suspended: suspended(entry.block, heap), advice: advice(key.storage) + condition)
    }
  }

  /// Where the task waits in whose frames a slice lies; none for other slices.
  private static func suspended(_ buffer: Int, _ heap: LoadedHeap) -> Snapshot.Index {
    var block = buffer
    // The task itself, or further memory of it.
    for _ in 0..<2 where heap.paths.edge[block] != HeapPaths.none {
      guard heap.graph.place(Int(heap.paths.edge[block])).strength == HeapFile.Strength.perhaps || block != buffer
      else { break }
      block = Int(heap.paths.holder[block])
      if let wait = heap.file.waits.first(where: { $0.shape == heap.graph.shapes[block] }) { return wait.stack }
    }
    return Snapshot.none
  }

  private static func advice(_ storage: HeapTypes.Storage) -> String {
    let copy =
      switch storage {
      case .string: "String(substring)"
      case .data: "Data(slice)"
      case .byteBuffer: "ByteBuffer(bytes: slice.readableBytesView)"
      default: "Array(slice)"
      }
    return "keep a copy of the part: \(copy) lets the large buffer go"
  }

  private init(_ heap: LoadedHeap) { self.heap = heap }

  private func use(of block: Int) -> HeapGraph.Use? {
    let uses = heap.graph.uses
    let index = uses.partitioningIndex { Int($0.rank) >= block }
    return index < uses.count && Int(uses[index].rank) == block ? uses[index] : nil
  }

  private func storage(of block: Int) -> HeapTypes.Storage? { heap.types.groups[heap.group(block)].storage }

  private mutating func readSlices() {
    let isInFrame = heap.file.places.map { $0.strength == HeapFile.Strength.perhaps }
    let isSlice = heap.file.places.map { heap.file.snapshot.strings[$0.label].contains("[...]") }
    for record in heap.graph.neighbours where record.count >= HeapFile.RootWords.count {
      let edge = Int(record.edge)
      let place = Int(heap.graph.places[edge])
      let (words, target) = (heap.graph.words(around: record), Int(heap.graph.targets[edge]))
      if read(words, of: target, isOnStack: isInFrame[place], isSlice: isSlice[place]) {
        understood.insert(edge)
      }
    }
    let edges = heap.graph.rootEdges
    for entry in heap.file.rootWords where entry.edge < UInt64(edges.count) {
      let edge = edges[Int(entry.edge)]
      let isOnStack = heap.file.roots[Int(edge.root)].kind != HeapFile.Root.global
      let isSlice = self.isSlice(edge.root)
      if read(entry.words, of: Int(edge.target), isOnStack: isOnStack, isSlice: isSlice) {
        understoodRoots.insert(Int(entry.edge))
      }
    }
  }

  /// A variable whose symbol says that it is a `Slice`, at the start of its collection, which is behind the two indices.
  private func isSlice(_ root: UInt32) -> Bool {
    let root = heap.file.roots[Int(root)]
    guard root.kind == HeapFile.Root.global, root.offsetInVariable == 16 else { return false }
    let type = Demangler.typeOfVariable(heap.file.snapshot.strings[root.name])
    return type?.hasPrefix("Swift.Slice<") == true && type?.hasSuffix(">") == true
  }

  /// True if the word in the middle is part of a slice.
  ///
  /// - Parameter isSlice: the type of the field says so: a `Slice` of a collection that begins with the reference.
  private mutating func read(_ words: [UInt64], of buffer: Int, isOnStack: Bool, isSlice: Bool = false) -> Bool {
    guard let use = use(of: buffer), let storage = storage(of: buffer) else { return false }
    let address = heap.graph.addresses[buffer]
    guard words[3] & Self.addressMask == address else {
      // A slice of an array also has the address of the elements, behind that of their owner.
      guard storage == .array, words[3] == address + Self.header else { return false }
      return words[2] == address || (isOnStack && words[6] == address && Self.ofArray(words[3...], use, address) != nil)
    }
    let elements = isSlice ? Self.ofSlice(words, use) : Self.elements(words, storage, use, address)
    // What a function keeps in registers it stores in front of the owner, the last word first.
    let isStored = elements == nil && isOnStack && storage == .array
    guard let elements = isStored ? Self.ofArray(words, use, address) : elements else { return false }
    // Words of a stack may lie side by side by chance: an empty range is what any zero in front of the storage looks like.
    guard !isOnStack || storage != .data || elements > 0 else { return false }
    var found = slices[buffer] ?? Slices()
    if isOnStack {
      // Copies of one slice show no more than it does.
      let own =
        storage == .string || isStored ? words[...2] : storage == .data ? words[2...3] : words[4...]
      if found.onStacks.met.insert(Array(own)).inserted { found.onStacks.elements &+= elements }
      found.onStacks.count += 1
    } else {
      found.elements &+= elements
      found.count += 1
    }
    slices[buffer] = found
    return true
  }

  /// Without the bits that distinguish representations.
  private static let addressMask: UInt64 = 0x0FFF_FFFF_FFFF_FFF8
  /// Of an array's storage.
  private static let header: UInt64 = 32

  /// How many elements, or bytes, a slice shows; nil if it is none.
  private static func elements(
    _ words: [UInt64], _ storage: HeapTypes.Storage, _ use: HeapGraph.Use, _ address: UInt64
  ) -> UInt64? {
    switch storage {
    case .string: ofSubstring(words, use)
    case .data: ofData(words, use)
    case .array: ofArray(words[4...], use, address)
    case .byteBuffer: ofByteBuffer(words, use)
    default: nil
    }
  }

  /// Substring and its views: two indices (StringIndex.swift: the position in the upper 48 bits; flags say that a scalar begins there, or
  /// that it counts in UTF-8), then a String, whose count and flags come before the reference (StringObject.swift).
  private static func ofSubstring(_ words: [UInt64], _ use: HeapGraph.Use) -> UInt64? {
    let (start, end, count) = (words[0], words[1], words[2])
    let (known, flags): (UInt64, UInt64) = (0b101, start & end)
    // Native and behind its header; whether it is ASCII or NFC does not matter.
    guard count >> 48 & 0x3FFF == 0x3000, count & 0xFFFF_FFFF_FFFF == use.used, flags & known != 0,
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
  ///
  /// - Parameter words: from the second one on.
  private static func ofArray(_ words: some Sequence<UInt64>, _ use: HeapGraph.Use, _ address: UInt64) -> UInt64? {
    let words = Array(words.prefix(3))
    let (base, start, end) = (words[0], words[1], words[2] >> 1)
    guard base == address + header, start <= end, end <= use.used else { return nil }
    return end - start
  }

  /// Slice: the index of the first element and the one behind the last, then the collection (Slice.swift). That of an own collection
  /// may count other things than elements of its storage.
  private static func ofSlice(_ words: [UInt64], _ use: HeapGraph.Use) -> UInt64? {
    let (start, end) = (words[1], words[2])
    guard start <= end, end <= use.used else { return nil }
    return end - start
  }

  /// ByteBuffer: what the instrument found by the names of its fields. A buffer that may be written from end to end is no slice.
  private static func ofByteBuffer(_ words: [UInt64], _ use: HeapGraph.Use) -> UInt64? {
    let (low, high) = (words[4], words[5])
    guard low < high, high <= use.capacity else { return nil }
    return high - low
  }

  private mutating func removeBuffersWithOtherOwners() {
    guard !slices.isEmpty else { return }
    let graph = heap.graph
    for edge in 0..<graph.targets.count {
      let target = Int(graph.targets[edge])
      guard slices[target] != nil, !understood.contains(edge) else { continue }
      switch graph.place(edge).strength {
      case HeapFile.Strength.none, HeapFile.Strength.number: break
      case HeapFile.Strength.perhaps: slices[target]?.isNamedElsewhere = true
      default: if heap.ownership.owns[edge] { slices[target] = nil } else { slices[target]?.isNamedElsewhere = true }
      }
    }
    for (number, edge) in graph.rootEdges.enumerated() where !understoodRoots.contains(number) {
      let buffer = Int(edge.target)
      guard slices[buffer] != nil else { continue }
      let isOfThread = graph.file.roots[Int(edge.root)].kind != HeapFile.Root.global
      if isOfThread {
        slices[buffer]?.isNamedElsewhere = true
      }
      // What a thread has may be what the slices on stacks account for.
      else if heap.ownership.rootOwns[number] {
        slices[buffer] = nil
      }
    }
    for (buffer, found) in slices {
      let strong = graph.strongCounts[buffer]
      guard strong != HeapGraph.unknownCount, Int(strong) <= found.count + found.onStacks.count else {
        slices[buffer] = nil
        continue
      }
      guard Int(strong) > found.count else { continue }
      // Then those on stacks own it, if nothing else there may.
      slices[buffer] = found.isNamedElsewhere ? nil : found
      slices[buffer]?.elements &+= found.onStacks.elements
    }
  }
}
