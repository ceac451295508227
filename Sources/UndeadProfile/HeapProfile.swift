import UndeadHeap
import UndeadReport

/// Writes what is in a heap as a profile that pprof and its relatives read, by the stacks of the allocations.
public enum HeapProfile {
  /// The bytes of the profile, which are not compressed: pprof reads both.
  ///
  /// What is in memory, as `inuse_objects` and `inuse_space`, with labels `type`, `module` and `generation`. What was
  /// freed before is not recorded, so there is no `alloc_space`.
  ///
  /// - Parameter symbols: names of the code addresses of the file.
  public static func render(
    _ heap: Heap, symbols: SymbolTable, tool: LeakReport.Tool = LeakReport.Tool()
  ) throws -> [UInt8] {
    let snapshot = heap.file.snapshot
    var builder = ProfileBuilder()
    var named = Set<String>()
    for frame in symbols.frames.values.joined() where frame.file != nil { named.insert(frame.module) }
    let modules = snapshot.modules.sorted { $0.low < $1.low }
    builder.add(
      modules, symbolized: Set(modules.map(\.path).filter { named.contains(ReportText.fileName($0)) }))
    var sites = Sites(heap, symbols)
    for row in sites.rows() {
      builder.add(sites.locations(row.key.stack, &builder), sites.labels(row.key), count: row.count, bytes: row.bytes)
    }
    builder.comment("\(tool.name) \(tool.version): blocks in memory of \(snapshot.metadata("path") ?? "")")
    let duration = snapshot.metadata("durationSeconds").flatMap(Double.init) ?? 0
    let start = snapshot.metadata("startedAt").flatMap(Double.init) ?? 0
    builder.setTimes(seconds: start > 0 ? start + duration : 0, duration: duration)
    return try builder.serialized()
  }

  /// Blocks of one type, stack and generation.
  private struct Sites {
    struct Key: Hashable {
      var group: UInt32
      var stack: Snapshot.Index
      var generation: UInt32
    }

    private let heap: Heap
    private let symbols: SymbolTable
    private var modules: HeapModules
    private var known: [Snapshot.Index: [UInt64]] = [:]

    init(_ heap: Heap, _ symbols: SymbolTable) {
      self.heap = heap
      self.symbols = symbols
      modules = HeapModules(heap.file.snapshot)
    }

    /// In the order in which they first occur.
    func rows() -> [(key: Key, count: Int, bytes: UInt64)] {
      var rows: [(key: Key, count: Int, bytes: UInt64)] = []
      var numbers: [Key: Int] = [:]
      for block in 0..<heap.graph.count {
        let site = heap.graph.site(block)
        let key = Key(
          group: UInt32(heap.group(block)), stack: site?.stack ?? Snapshot.none, generation: site?.generation ?? 0)
        let number: Int
        if let found = numbers[key] {
          number = found
        } else {
          number = rows.count
          numbers[key] = number
          rows.append((key, 0, 0))
        }
        rows[number].count += 1
        rows[number].bytes &+= heap.graph.size(block)
      }
      return rows
    }

    mutating func locations(_ stack: Snapshot.Index, _ builder: inout ProfileBuilder) -> [UInt64] {
      guard stack != Snapshot.none else { return [] }
      if let found = known[stack] { return found }
      // Return addresses: the call is before them.
      let locations = heap.file.snapshot.addresses(ofStack: stack).filter { $0 > 0 }.map { address in
        builder.location(at: address - 1, symbols[address - 1] ?? [])
      }
      known[stack] = locations
      return locations
    }

    /// The module is that of the type, of memory without a type that of the code which allocated it.
    mutating func labels(_ key: Key) -> ProfileBuilder.Labels {
      let group = heap.types.groups[Int(key.group)]
      let isMemory = key.group == heap.types.raw || key.group == heap.types.foreign
      var labels: ProfileBuilder.Labels = [:]
      labels["type"] = group.name
      labels["module"] =
        isMemory ? modules.name(ofStack: key.stack) : HeapTables.module(ofType: group)
      labels["generation"] = String(key.generation)
      return labels
    }
  }
}
