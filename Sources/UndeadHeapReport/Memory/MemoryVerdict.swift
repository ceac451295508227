import UndeadHeap
import UndeadReport
import UndeadSystem

/// Where the resident memory of a process is, and what to do about the largest part that somebody can do something about.
package struct MemoryVerdict: Codable, Sendable, Equatable {
  /// What the largest part is that is worth a look.
  package enum Kind: String, Codable, Sendable, CaseIterable {
    /// Nothing leads to it.
    case leak
    /// It is reachable, and grows: only known from two moments.
    case growth
    /// Free, and malloc keeps it.
    case retained
    /// Free, but on pages that living blocks keep.
    case pinned
    case nothing
  }

  /// A type whose blocks keep pages that are free but for them.
  package struct Pin: Codable, Sendable, Hashable {
    package var type: String
    package var count: Int
    package var pages: Int
    /// Free bytes on these pages.
    package var pinnedBytes: Int
    package var allocation: LeakReport.Backtrace
  }

  package var kind: Kind
  /// What was found, in one sentence.
  package var sentence: String
  /// What can be done, in one sentence.
  package var advice: String
  /// Resident bytes of blocks that something leads to.
  package var liveBytes: Int
  package var leakedBytes: Int
  /// The allocator that says itself what is free; nil for glibc's, whose tables do, and for others.
  package var allocator: String?
  /// What is free in malloc, and its overhead.
  package var mallocFreeBytes: Int
  /// What `malloc_trim(0)`, or what the allocator has in its place, would give back; nil if the allocator's own tables are not known.
  package var trimmableBytes: Int?
  /// The unused ends of threads' arenas, which nothing gives back; nil likewise.
  package var unusedArenaBytes: Int?
  /// Free bytes on pages that blocks keep; nil likewise.
  package var pinnedBytes: Int?
  /// The worst first.
  package var pinnedBy: [Pin]
}

extension MemoryVerdict {
  /// Below this nothing is worth a word.
  private static let leastBytes = 1 << 20
  private static let mostPins = 10
  /// Parts that only the change between two moments names.
  private static let mapped = "mapped by the program itself"
  private static let stacks = "in stacks of threads"

  /// The verdict on a heap; nil if the resident size is not known.
  package init?(_ heap: LoadedHeap, symbols: HeapSymbols) {
    let file = heap.file
    let unreachable = Int(clamping: heap.dominators.retained[heap.dominators.nodes.unreachable])
    let resident = file.residentBytes
    guard resident > 0, !file.memory.isEmpty else { return nil }
    let free = file.resident(HeapFile.MemoryLine.mallocFree)
    let live = file.resident(HeapFile.MemoryLine.liveBlocks)
    let leaked = min(unreachable, live)
    let pages = file.malloc.isEmpty ? nil : MallocPages(heap)
    let statistics = pages == nil ? Statistics(file.snapshot) : nil
    let trimmable = (pages?.trimmableBytes ?? statistics?.unusedPages).map { min(Int(clamping: $0), free) }
    let unused = trimmable.map { min(Int(clamping: pages?.topBytes ?? 0), free - $0) }
    let pinned = (pages?.pinnedBytes ?? statistics?.unusedInPages).map {
      min(Int(clamping: $0), free - trimmable! - unused!)
    }

    let least = max(Self.leastBytes, resident / 20)
    var candidates: [(kind: Kind, bytes: Int)] = [
      (.retained, trimmable.map { $0 + unused! } ?? free), (.pinned, pinned ?? 0),
    ]
    candidates = candidates.filter { $0.bytes >= least }
    if leaked >= least || heap.hasUnreachableObjects { candidates.append((.leak, leaked)) }
    let kind = candidates.max { $0.bytes < $1.bytes }?.kind ?? .nothing

    self.init(
      kind: kind, sentence: "", advice: "", liveBytes: live - leaked, leakedBytes: leaked,
      allocator: statistics?.name, mallocFreeBytes: free,
      trimmableBytes: trimmable, unusedArenaBytes: unused, pinnedBytes: pinned,
      pinnedBy: pages.map { Self.pins($0, heap, symbols) } ?? [])
    sentence = sentence(of: resident, mapped: file.resident(HeapFile.MemoryLine.mapped))
    advice = advice(arenas: pages?.arenas ?? 0)
    if kind == .leak, let special = Self.advice(onLost: LostMemory.amount(heap), of: leaked) { advice = special }
  }

  /// What jemalloc says of itself.
  private struct Statistics {
    let name = "jemalloc"
    /// Of pages that nothing lies on, and of pages that blocks lie on.
    var unusedPages, unusedInPages: UInt64

    init?(_ snapshot: Snapshot) {
      let active = snapshot.counter("allocatorActive")
      let used = active.addingReportingOverflow(snapshot.counter("allocatorMetadata"))
      guard active > 0, !used.overflow else { return nil }
      let (resident, allocated) = (snapshot.counter("allocatorResident"), snapshot.counter("allocatorAllocated"))
      unusedPages = resident > used.partialValue ? resident - used.partialValue : 0
      unusedInPages = active > allocated ? active - allocated : 0
    }
  }

  private static func pins(_ pages: MallocPages, _ heap: LoadedHeap, _ symbols: HeapSymbols) -> [Pin] {
    let worst = pages.pins.sorted { a, b in
      (b.value.bytes, a.value.block) < (a.value.bytes, b.value.block)
    }.prefix { $0.value.bytes >= pages.pinnedBytes / 100 }.prefix(mostPins)
    symbols.prepare(stacks: worst.map { heap.graph.stack($0.value.block) }, functions: [])
    return worst.map { pin, pinned in
      Pin(
        type: heap.types.groups[pin.group].name, count: pinned.blocks, pages: pinned.pages,
        pinnedBytes: Int(clamping: pinned.bytes), allocation: symbols.backtrace(heap.graph.stack(pinned.block)))
    }
  }

  /// Of memory that is leaked, and is no object of the program's; nil if most of it is.
  private static func advice(onLost lost: LostMemory.Amount, of leaked: Int) -> String? {
    let half = UInt64(leaked / 2)
    if lost.messages > half { return KnownLeaks.reasonForMessages + " ('undead tasks' shows who waits)" }
    if lost.withoutPlace > half { return "most of it is memory that is no object; " + KnownLeaks.needsPlace }
    return lost.bytes > half && lost.isListed ? "who allocated the most of it is listed below" : nil
  }

  private func sentence(of resident: Int, mapped: Int) -> String {
    let (all, free) = (Quantity.bytes(resident), Quantity.bytes(mallocFreeBytes))
    switch kind {
    case .leak: return "\(Quantity.bytes(leakedBytes)) of \(all) are leaked: nothing leads to them"
    case .growth: return "\(Quantity.bytes(liveBytes)) of \(all) are in use, and grow"
    case .retained:
      guard let trimmableBytes, let unusedArenaBytes else {
        return
          "\(free) of \(all) are free, but the allocator keeps them: how much of it living blocks pin, it does not say"
      }
      let kept = Quantity.bytes(trimmableBytes + unusedArenaBytes)
      let trim =
        unusedArenaBytes < Self.leastBytes
        ? "would give them back"
        : trimmableBytes < Self.leastBytes
          ? "would not give them back" : "would give \(Quantity.bytes(trimmableBytes)) back"
      if let allocator {
        return "\(kept) of \(all) are free, but \(allocator) keeps them, as it says itself"
      }
      return "\(kept) of \(all) are free, but malloc keeps them: malloc_trim(0) \(trim)"
    case .pinned:
      return "\(Quantity.bytes(pinnedBytes ?? 0)) of \(all) are free, but lie on pages that living blocks keep"
    case .nothing:
      let others = mapped > resident / 2 ? ", \(Quantity.bytes(mapped)) are \(Self.mapped)" : ""
      return
        "\(Quantity.bytes(liveBytes)) of \(all) are in use, \(free) are free in malloc\(others): neither leaked nor wasted"
    }
  }

  private func advice(arenas: Int) -> String {
    switch kind {
    case .leak: return "'undead leaks' shows the types, and the field or cycle of each"
    case .growth: return "what grows is listed below, by field: limit it, or remove what is no longer needed"
    case .retained:
      guard let trimmableBytes, let unusedArenaBytes else {
        return "mimalloc gives memory back by mi_collect(true), and sooner with MIMALLOC_PURGE_DELAY=0; tcmalloc by "
          + "MallocExtension::ReleaseMemoryToSystem; if the next burst needs the memory again, leave it"
      }
      if allocator != nil {
        return
          "lower MALLOC_CONF=dirty_decay_ms, or call mallctl(\"arena.4096.purge\") after a burst; if the next burst needs "
          + "the memory again, leave it"
      }
      var ways: [String] = []
      if trimmableBytes >= Self.leastBytes { ways.append("call malloc_trim(0) after a burst") }
      if arenas > 2 || unusedArenaBytes >= Self.leastBytes {
        let count = arenas > 0 ? "\(arenas) arenas are in use, and each" : "each arena"
        ways.append("start the program with MALLOC_ARENA_MAX=2 (\(count) keeps its free end)")
      }
      return "\(ways.joined(separator: ", or ")); if the next burst needs the memory again, leave it"
    case .pinned where allocator != nil:
      return "blocks of sizes that are no longer used keep pages: fewer arenas (MALLOC_CONF=narenas:2) keep fewer"
    case .pinned:
      let what = pinnedBy.first.map { Number.readable($0.type) } ?? "what survives"
      return "allocate \(what) before the burst or copy it after it, so that survivors lie together; fewer arenas "
        + "(MALLOC_ARENA_MAX=2), or an allocator that groups by size, keep fewer pages"
    case .nothing: return "nothing has to be done"
    }
  }

  /// What the resident memory did between two moments.
  ///
  /// - Parameters:
  ///   - old: the verdict on the first moment.
  ///   - files: what was there at each of the two.
  func since(_ old: MemoryVerdict, files: (before: HeapFile, after: HeapFile)) -> MemoryVerdict {
    let resident = (before: files.before.residentBytes, after: files.after.residentBytes)
    func retained(_ verdict: MemoryVerdict) -> Int {
      verdict.trimmableBytes.map { $0 + (verdict.unusedArenaBytes ?? 0) } ?? verdict.mallocFreeBytes
    }
    let parts: [(kind: Kind, bytes: Int, words: String)] = [
      (.growth, liveBytes - old.liveBytes, "in use"), (.leak, leakedBytes - old.leakedBytes, "leaked"),
      (.retained, retained(self) - retained(old), "free, but kept by malloc"),
      (.pinned, (pinnedBytes ?? 0) - (old.pinnedBytes ?? 0), "free, but on pages that living blocks keep"),
      (
        .growth, files.after.resident(HeapFile.MemoryLine.mapped) - files.before.resident(HeapFile.MemoryLine.mapped),
        Self.mapped
      ),
      (
        .growth, files.after.resident(HeapFile.MemoryLine.stacks) - files.before.resident(HeapFile.MemoryLine.stacks),
        Self.stacks
      ),
    ]
    let least = max(Self.leastBytes / 4, resident.after / 100)
    let worst = parts.max { $0.bytes < $1.bytes }!
    var change = self
    change.kind = worst.bytes >= least || (worst.kind == .leak && worst.bytes > 0) ? worst.kind : .nothing
    change.advice =
      change.kind == .growth && worst.words == Self.mapped
      ? "the program maps this memory itself (mmap): unmap what is no longer needed"
      : change.kind == .growth && worst.words == Self.stacks
        ? "'undead heap PID --by thread' shows the threads, and what each does: end those that are no longer needed"
        : change.advice(arenas: 0)
    let grown = resident.after - resident.before
    let sizes = "\(Quantity.bytes(resident.before)) -> \(Quantity.bytes(resident.after))"
    let total = "\(grown < 0 ? "shrank" : "grew") by \(Quantity.bytes(abs(grown))) (\(sizes))"
    let told = parts.filter { abs($0.bytes) >= least || ($0.kind == change.kind && $0.bytes > 0) }.sorted {
      $0.bytes > $1.bytes
    }
    .map { "\($0.bytes < 0 ? "-" : "+")\(Quantity.bytes(abs($0.bytes))) \($0.words)" }
    change.sentence = "resident memory \(total)" + (told.isEmpty ? "" : ": \(told.joined(separator: ", "))")
    return change
  }
}
