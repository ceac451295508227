import UndeadHeapFile
import UndeadReport

/// What of a heap a profile needs: blocks by type, stack of the allocation and generation.
///
/// A value that holds nothing of the file, so that two moments of a process can be compared when the first file is gone.
package struct AllocationSites: Sendable {
  /// Blocks of one type, stack and generation.
  package struct Row: Sendable, Equatable {
    package var type: String
    /// That declares the type; of memory without a type, that allocated it.
    package var module: String
    /// Number of the mark after which the blocks were born.
    package var generation: Int
    /// Return addresses, innermost first; empty if none were recorded.
    package var stack: [UInt64]
    package var count: Int
    package var bytes: UInt64
  }

  /// What one place has allocated since the start, freed blocks too, as far as a sample shows.
  package struct Allocated: Sendable, Equatable {
    /// Return addresses, innermost first; empty for places that were thrown away.
    package var stack: [UInt64]
    package var samples: Int
    package var count: Int
    package var bytes: UInt64
  }

  /// Sorted by type, generation and stack. Where allocations are sampled these are estimates.
  package let rows: [Row]
  /// Empty if allocations are not sampled.
  package let allocated: [Allocated]
  /// One allocation was sampled for so many bytes, on average; nil if all backtraces were kept.
  package let sampleBytes: Int?
  /// The libraries that the process had loaded, by address.
  package let modules: [LeakSnapshot.Module]
  /// The names that the file brings.
  package let symbols: SymbolTable
  /// The executable.
  package let path: String
  /// Seconds since 1970; 0 if that is not known.
  package let taken: Double
  /// How long the process had run, in seconds.
  package let duration: Double
  /// What the reader has to know of the file, one sentence each.
  package let notes: [String]
  /// The marks, by number.
  package let generations: [Int: String]

  /// Reads a heap file, without its graph.
  ///
  /// - Throws: ``SnapshotError`` that names the byte and what to do.
  package init(_ file: HeapFile) throws(SnapshotError) {
    let snapshot = file.snapshot
    let types = HeapTypes(file)
    var names = HeapModules(snapshot)
    var sums: [Group: (count: Int, bytes: UInt64)] = [:]
    var sampled: [Group: SampleSums] = [:]
    for (key, count) in try HeapSiteCounts(file).counts {
      let site = key.site > 0 ? file.sites[Int(key.site) - 1] : nil
      let group = Group(
        type: types.group(key, in: file), stack: site?.stack ?? Snapshot.none, generation: site?.generation ?? 0)
      let size = file.shapes[Int(key.shape)].size
      if let site, site.isSampled {
        sampled[group, default: SampleSums()].add(size: size, mean: site.sampleMean, times: count)
        continue
      }
      // Samples stand for the others.
      guard file.sampleBytes == nil else { continue }
      var sum = sums[group] ?? (0, 0)
      sum.count += count
      sum.bytes &+= size &* UInt64(count)
      sums[group] = sum
    }
    for (group, sum) in sampled {
      let estimate = sum.estimate
      sums[group] = (estimate.count, UInt64(estimate.bytes))
    }
    sampleBytes = file.sampleBytes
    allocated = file.allocations.map { place in
      Allocated(
        stack: place.stack == Snapshot.none ? [] : Array(snapshot.addresses(ofStack: place.stack)),
        samples: Int(clamping: place.samples), count: Int(clamping: place.objects), bytes: place.bytes)
    }
    rows = sums.map { group, sum in
      let type = types.groups[Int(group.type)]
      let isMemory = group.type == types.raw || group.type == types.foreign
      return Row(
        type: type.name, module: isMemory ? names.name(ofStack: group.stack) : type.module,
        generation: Int(group.generation),
        stack: group.stack == Snapshot.none ? [] : Array(snapshot.addresses(ofStack: group.stack)),
        count: sum.count, bytes: sum.bytes)
    }.sorted(by: Self.comesBefore)
    modules = snapshot.modules.sorted { $0.low < $1.low }
    symbols = snapshot.symbols
    path = snapshot.metadata("path") ?? ""
    duration = snapshot.metadata("durationSeconds").flatMap(Double.init) ?? 0
    let start = snapshot.metadata("startedAt").flatMap(Double.init) ?? 0
    taken = start > 0 ? start + duration : 0
    notes = file.notes
    generations = Dictionary(
      file.generations.map { (Int($0.number), snapshot.strings[$0.name]) }, uniquingKeysWith: { first, _ in first })
  }

  private struct Group: Hashable {
    var type: UInt32
    var stack: Snapshot.Index
    var generation: UInt32
  }

  private static func comesBefore(_ a: Row, _ b: Row) -> Bool {
    if a.type != b.type { return a.type < b.type }
    if a.generation != b.generation { return a.generation < b.generation }
    if a.stack != b.stack { return a.stack.lexicographicallyPrecedes(b.stack) }
    return (a.module, a.count, a.bytes) < (b.module, b.count, b.bytes)
  }

  /// The code addresses of all stacks, as they are looked up.
  package var addresses: [UInt64] {
    var addresses = Set<UInt64>()
    for stack in rows.map(\.stack) + allocated.map(\.stack) {
      for address in stack where address > 0 { addresses.insert(address - 1) }
    }
    return addresses.sorted()
  }
}
