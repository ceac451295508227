import UndeadReport
import UndeadSystem

/// A heap file, mapped and checked: all but the graph, which `LoadedHeap` decodes, is at hand as values.
///
/// The file must not change while this object lives.
package final class HeapFile {
  /// Owns `bytes`; nil if these are a copy.
  private let mapped: MappedFile?
  private let copy: UnsafeMutableRawBufferPointer?
  package let bytes: UnsafeRawBufferPointer
  package let sections: SnapshotSections
  /// What every snapshot has: facts of the process, types, stacks, symbols, and what leaked.
  package let snapshot: LeakSnapshot
  package let shapes: [Shape]
  package let sites: [Site]
  package let places: [Place]
  /// Those of the file, then one for each place at which tasks wait.
  package let roots: [Root]
  /// By shape of a task: index of ``roots``.
  package let taskRoots: [UInt32: UInt32]
  package let memory: [MemoryLine]
  /// How glibc's malloc has cut up its memory; empty for other allocators.
  package let malloc: [MallocPart]
  package let generations: [Generation]
  package let rootWords: [RootWords]
  package let stackWords: [StackWord]
  /// Nil if the file does not say which tasks of `async let` are named, but only in which blocks.
  package let innerWords: [InnerWord]?
  /// Labels of dispatch queues by rank in address order; not checked.
  package let queueLabels: [UInt32: StringID]
  /// Ascending by block.
  package let holders: [DescriptorHolder]
  package let stacks: [ThreadStack]
  /// What the process had beside memory, if the tool that took the file added it.
  package var resources: ProcessResources?
  package let waits: [Wait]
  package let tasks: [Task]
  package let taskMemory: [TaskMemory]
  /// Empty if allocations were not sampled.
  package let allocations: [Allocations]
  /// Only in the files of a census, which have no graph.
  package let census: [CensusLine]

  /// Size of the file in bytes.
  package var byteCount: Int { bytes.count }

  /// False for a snapshot of leaks only, and for a census.
  package var hasGraph: Bool { snapshot.metadata("heap") == "1" && sections[.heapGraph].count > 0 }

  /// One allocation was sampled for so many bytes, on average; nil if all backtraces were kept.
  package var sampleBytes: Int? { snapshot.metadata("sampleBytes").flatMap(Int.init) }

  /// True for a census: counts by type, without a graph.
  package var isCensus: Bool { snapshot.metadata("census") == "1" }

  /// Resident memory of the process, as the file shows it or adds up to.
  package var residentBytes: Int {
    let told = snapshot.counter("residentBytes")
    return Int(clamping: told > 0 ? told : memory.reduce(0) { $0 &+ $1.resident })
  }

  /// Resident bytes of one kind of ``memory``.
  package func resident(_ kind: UInt32) -> Int {
    Int(clamping: memory.filter { $0.kind == kind }.reduce(0) { $0 &+ $1.resident })
  }

  /// Maps a file and checks everything but the graph.
  ///
  /// - Throws: `SnapshotError` that names the byte and what to do.
  package convenience init(path: String) throws(SnapshotError) {
    let mapped: MappedFile
    do throws(FileProblem) {
      mapped = try MappedFile(path: path)
    } catch {
      throw SnapshotError(.unreadable, byte: 0, "the file cannot be read: \(error.reason)")
    }
    try self.init(mapped: mapped, copy: nil)
  }

  /// Reads the bytes of a file.
  ///
  /// - Throws: `SnapshotError` that names the byte and what to do.
  package convenience init(decoding bytes: some Collection<UInt8>) throws(SnapshotError) {
    let copy = UnsafeMutableRawBufferPointer.allocate(byteCount: max(bytes.count, 1), alignment: 8)
    copy.copyBytes(from: bytes)
    try self.init(mapped: nil, copy: UnsafeMutableRawBufferPointer(rebasing: copy[..<bytes.count]))
  }

  private init(mapped: MappedFile?, copy: UnsafeMutableRawBufferPointer?) throws(SnapshotError) {
    self.mapped = mapped
    self.copy = copy
    bytes = mapped?.bytes ?? UnsafeRawBufferPointer(copy!)
    do throws(SnapshotError) {
      sections = try SnapshotSections(bytes)
      snapshot = try Snapshot(decoding: bytes, sections: sections)
      let reader = HeapSectionReader(bytes, sections, snapshot)
      shapes = try reader.shapes()
      sites = try reader.sites()
      places = try reader.places()
      memory = Self.attributed(try reader.memory(), snapshot)
      malloc = try reader.malloc()
      generations = try reader.generations()
      rootWords = try reader.rootWords()
      stackWords = try reader.stackWords()
      innerWords = try reader.innerWords()
      queueLabels = try reader.queueLabels()
      holders = try reader.holders()
      stacks = try reader.stacks()
      resources = try reader.resources()
      waits = try reader.waits(shapes: shapes.count)
      tasks = try reader.tasks()
      taskMemory = try reader.taskMemory()
      (roots, taskRoots) = HeapFile.taskRoots(try reader.roots(), waits)
      allocations = try reader.allocations()
      census = try reader.census()
    } catch {
      copy?.deallocate()
      throw error
    }
  }

  deinit { copy?.deallocate() }

  /// True if the process was copied and not recorded, so that nothing is known of the places of its allocations.
  package var isBare: Bool { snapshot.isBare && sites.allSatisfy { $0.stack == Snapshot.none } }

  /// What is to be said of the look at the process.
  package var notes: [String] { snapshot.reportNotes.filter { $0 != LeakReport.noBacktraces || isBare } }
}

extension HeapFile {
  /// What jemalloc has without a block near it looks as if the program had mapped it: jemalloc says itself how much it has.
  private static func attributed(_ memory: [MemoryLine], _ snapshot: Snapshot) -> [MemoryLine] {
    var memory = memory
    func line(_ kind: UInt32) -> Int? { memory.firstIndex { $0.kind == kind } }
    guard let free = line(MemoryLine.mallocFree), let mapped = line(MemoryLine.mapped) else { return memory }
    let known = memory[free].resident &+ (line(MemoryLine.liveBlocks).map { memory[$0].resident } ?? 0)
    let all = snapshot.counter("allocatorResident")
    let moved = all > known ? min(all - known, memory[mapped].resident) : 0
    memory[mapped].resident -= moved
    memory[free].resident &+= moved
    return memory
  }

  /// Adds a root for each place at which tasks wait: its address is the index of their frames in STACKS.
  private static func taskRoots(_ roots: [Root], _ waits: [Wait]) -> (roots: [Root], ofShape: [UInt32: UInt32]) {
    let waiting = waits.filter { $0.status & TaskState.Flag.complete == 0 }
    let stacks = Set(waiting.map(\.stack)).sorted()
    let numbers = Dictionary(uniqueKeysWithValues: zip(stacks, UInt32(roots.count)...))
    let ofShape = Dictionary(waiting.map { ($0.shape, numbers[$0.stack]) }) { first, _ in first }
    return (roots + stacks.map { Root(kind: Root.task, address: UInt64($0)) }, ofShape.compactMapValues(\.self))
  }
}

/// Reads the sections of a heap file that are lists of entries, and checks every reference between them.
private struct HeapSectionReader {
  private let bytes: UnsafeRawBufferPointer
  private let sections: SnapshotSections
  private let snapshot: Snapshot

  /// No block of any machine is larger; sums of sizes stay far from overflow.
  private static let largestBlock: UInt64 = 1 << 47

  init(_ bytes: UnsafeRawBufferPointer, _ sections: SnapshotSections, _ snapshot: Snapshot) {
    self.bytes = bytes
    self.sections = sections
    self.snapshot = snapshot
  }

  private func entries<T>(
    _ kind: SnapshotFormat.Section, _ make: (SnapshotSections.Entry) throws(SnapshotError) -> T
  ) throws(SnapshotError) -> [T] {
    let section = sections[kind]
    var result: [T] = []
    result.reserveCapacity(section.count)
    for number in 0..<section.count {
      result.append(try make(.init(bytes: bytes, offset: section.offset + number * section.entrySize)))
    }
    return result
  }

  private func string(_ entry: SnapshotSections.Entry, _ field: Int) throws(SnapshotError) -> StringID {
    let id = entry.u32(field)
    let count = snapshot.strings.bytes.count
    guard Int(id) < count else {
      throw SnapshotError(
        .damaged, byte: entry.offset + field, "string \(id) lies outside of the \(count) bytes of strings")
    }
    return id
  }

  private func index(
    _ entry: SnapshotSections.Entry, _ field: Int, below count: Int, of section: String
  ) throws(SnapshotError) -> Snapshot.Index {
    let index = entry.u32(field)
    guard Int(index) < count || index == Snapshot.none else {
      throw SnapshotError(
        .damaged, byte: entry.offset + field, "entry \(index) of \(section) is meant, there are \(count)")
    }
    return index
  }

  func shapes() throws(SnapshotError) -> [HeapFile.Shape] {
    try entries(.heapShapes) { (entry) throws(SnapshotError) in
      let size = entry.u64(8)
      guard size <= Self.largestBlock else {
        throw SnapshotError(.damaged, byte: entry.offset + 8, "blocks of \(size) bytes are meant")
      }
      return HeapFile.Shape(
        type: try index(entry, 0, below: snapshot.types.count, of: "TYPES"), flags: entry.u32(4), size: size)
    }
  }

  func sites() throws(SnapshotError) -> [HeapFile.Site] {
    try entries(.heapSites) { (entry) throws(SnapshotError) in
      HeapFile.Site(
        stack: try index(entry, 0, below: snapshot.stacks.count, of: "STACKS"), generation: entry.u32(4),
        flags: entry.u32(8), sampleMean: entry.u32(12))
    }
  }

  func allocations() throws(SnapshotError) -> [HeapFile.Allocations] {
    try entries(.allocations) { (entry) throws(SnapshotError) in
      HeapFile.Allocations(
        stack: try index(entry, 0, below: snapshot.stacks.count, of: "STACKS"), samples: entry.u64(8),
        objects: entry.u64(16), bytes: entry.u64(24), sampledBytes: entry.u64(32))
    }
  }

  func waits(shapes: Int) throws(SnapshotError) -> [HeapFile.Wait] {
    try entries(.heapWaits) { (entry) throws(SnapshotError) in
      let shape = entry.u32(0)
      guard Int(shape) < shapes else {
        throw SnapshotError(
          .damaged, byte: entry.offset, "entry \(shape) of HEAP SHAPES is meant, there are \(shapes)")
      }
      return HeapFile.Wait(
        shape: shape, stack: try index(entry, 4, below: snapshot.stacks.count, of: "STACKS"), status: entry.u32(8))
    }
  }

  func tasks() throws(SnapshotError) -> [HeapFile.Task] {
    try entries(.heapTasks) { (entry) throws(SnapshotError) in
      let last = entry.u32(48)
      return HeapFile.Task(
        address: entry.u64(0), parent: entry.u64(8), group: entry.u64(16), waitsFor: entry.u64(24), id: entry.u32(32),
        name: try string(entry, 36), stack: try index(entry, 40, below: snapshot.stacks.count, of: "STACKS"),
        status: entry.u32(44), dependency: .init(rawValue: UInt8(truncatingIfNeeded: last)) ?? .unknown,
        priority: UInt8(truncatingIfNeeded: last >> 8), flags: UInt16(truncatingIfNeeded: last >> 16))
    }
  }

  func taskMemory() throws(SnapshotError) -> [HeapFile.TaskMemory] {
    try entries(.heapTaskMemory) { (entry) throws(SnapshotError) in
      HeapFile.TaskMemory(task: entry.u64(0), block: entry.u32(8), taskBlock: entry.u32(12))
    }
  }

  func places() throws(SnapshotError) -> [HeapFile.Place] {
    try entries(.heapPlaces) { (entry) throws(SnapshotError) in
      let strength = entry.u32(16)
      guard strength <= HeapFile.Strength.number else {
        throw SnapshotError(.damaged, byte: entry.offset + 16, "references of strength \(strength) are meant")
      }
      return HeapFile.Place(
        holder: try index(entry, 0, below: snapshot.types.count, of: "TYPES"), offset: entry.u32(4),
        label: try string(entry, 8), declaredType: try string(entry, 12), strength: strength, flags: entry.u32(20),
        function: entry.u64(24))
    }
  }

  func roots() throws(SnapshotError) -> [HeapFile.Root] {
    try entries(.heapRoots) { (entry) throws(SnapshotError) in
      HeapFile.Root(
        kind: entry.u32(0), name: try string(entry, 4), address: entry.u64(8), thread: entry.u32(16),
        flags: entry.u32(20))
    }
  }

  func memory() throws(SnapshotError) -> [HeapFile.MemoryLine] {
    try entries(.heapMemory) { (entry) throws(SnapshotError) in
      HeapFile.MemoryLine(
        name: try string(entry, 0), kind: entry.u32(4), resident: entry.u64(8), reserved: entry.u64(16))
    }
  }

  func malloc() throws(SnapshotError) -> [HeapFile.MallocPart] {
    try entries(.heapMalloc) { (entry) throws(SnapshotError) in
      let part = HeapFile.MallocPart(low: entry.u64(0), high: entry.u64(8), kind: entry.u64(16))
      guard part.low < part.high, part.high <= Self.largestBlock << 1 else {
        throw SnapshotError(.damaged, byte: entry.offset, "memory of malloc from \(part.low) to \(part.high) is meant")
      }
      return part
    }
  }

  func generations() throws(SnapshotError) -> [HeapFile.Generation] {
    try entries(.heapGenerations) { (entry) throws(SnapshotError) in
      HeapFile.Generation(number: entry.u32(0), name: try string(entry, 4), time: entry.u64(8))
    }
  }

  func rootWords() throws(SnapshotError) -> [HeapFile.RootWords] {
    try entries(.heapRootWords) { (entry) throws(SnapshotError) in
      HeapFile.RootWords(edge: entry.u64(0), words: (0..<HeapFile.RootWords.count).map { entry.u64(8 + 8 * $0) })
    }
  }

  func stackWords() throws(SnapshotError) -> [HeapFile.StackWord] {
    try entries(.heapStackWords) { (entry) throws(SnapshotError) in
      HeapFile.StackWord(edge: entry.u64(0), frames: try index(entry, 8, below: snapshot.stacks.count, of: "STACKS"))
    }
  }

  func innerWords() throws(SnapshotError) -> [HeapFile.InnerWord]? {
    guard sections.has(.heapInnerWords) else { return nil }
    return try entries(.heapInnerWords) { (entry) throws(SnapshotError) in
      HeapFile.InnerWord(from: entry.u64(0), task: entry.u64(8))
    }
  }

  func queueLabels() throws(SnapshotError) -> [UInt32: StringID] {
    let labels = try entries(.heapQueues) { (entry) throws(SnapshotError) in (entry.u32(0), try string(entry, 4)) }
    return Dictionary(labels) { first, _ in first }
  }

  func holders() throws(SnapshotError) -> [HeapFile.DescriptorHolder] {
    try entries(.heapHolders) { (entry) throws(SnapshotError) in
      HeapFile.DescriptorHolder(
        block: entry.u32(0), descriptor: entry.u32(4), field: try string(entry, 8), offset: entry.u32(12))
    }
  }

  func stacks() throws(SnapshotError) -> [HeapFile.ThreadStack] {
    try entries(.heapStacks) { (entry) throws(SnapshotError) in
      HeapFile.ThreadStack(
        thread: entry.u32(0), frames: try index(entry, 4, below: snapshot.stacks.count, of: "STACKS"),
        resident: entry.u64(8), reserved: entry.u64(16))
    }
  }

  /// What ``HeapFile/save(_:to:metadata:resources:using:)`` adds.
  func resources() throws(SnapshotError) -> ProcessResources? {
    let descriptors = try entries(.descriptors) { (entry) throws(SnapshotError) in
      OpenDescriptor(
        number: Int32(truncatingIfNeeded: entry.u32(0)),
        kind: OpenDescriptor.Kind(rawValue: snapshot.strings[try string(entry, 4)]) ?? .other,
        target: snapshot.strings[try string(entry, 8)], waiter: entry.u32(12))
    }
    let threads = try entries(.threads) { (entry) throws(SnapshotError) in
      ProcessResources.Thread(
        id: entry.u32(0), name: snapshot.strings[try string(entry, 4)], call: snapshot.strings[try string(entry, 8)])
    }
    return descriptors.isEmpty && threads.isEmpty ? nil : .init(descriptors: descriptors, threads: threads)
  }

  func census() throws(SnapshotError) -> [HeapFile.CensusLine] {
    try entries(.census) { (entry) throws(SnapshotError) in
      HeapFile.CensusLine(
        type: try index(entry, 0, below: snapshot.types.count, of: "TYPES"), count: entry.u64(8),
        bytes: entry.u64(16))
    }
  }
}
