import UndeadHeapFile
import UndeadReport

/// Writes what is in a heap as a profile that pprof and its relatives read, by the stacks of the allocations.
package enum HeapProfile {
  /// The bytes of the profile, before ``Gzip`` compresses them.
  ///
  /// What is in memory, as `inuse_objects` and `inuse_space`, with labels `type`, `module` and `generation`. Where
  /// allocations are sampled these are estimates, and what was allocated since the start, freed or not, is in
  /// `alloc_objects` and `alloc_space`, without labels: the four values of a heap profile of Go.
  ///
  /// - Parameter symbols: names of the code addresses of the file.
  package static func render(
    _ file: HeapFile, symbols: SymbolTable, tool: LeakReport.Tool = LeakReport.Tool()
  ) throws(SnapshotError) -> [UInt8] {
    try render(AllocationSites(file), symbols: symbols, options: ProfileOptions(tool: tool))
  }

  /// The bytes of the profile of what was read from a heap file.
  ///
  /// - Parameter symbols: names of ``AllocationSites/addresses``.
  package static func render(
    _ sites: AllocationSites, symbols: SymbolTable, options: ProfileOptions = ProfileOptions()
  ) -> [UInt8] {
    var builder = builder(sites, symbols, options)
    for row in sites.rows { add(row, row.count, Int64(clamping: row.bytes), symbols, options, &builder) }
    for place in sites.allocated { add(place, 1, symbols, &builder) }
    builder.comment("\(options.tool.name) \(options.tool.version): blocks in memory of \(sites.path)")
    builder.setTimes(seconds: sites.taken, duration: sites.duration)
    return builder.serialized()
  }

  /// The bytes of a profile of what changed between two files of one process: less than before is negative.
  package static func render(
    from old: AllocationSites, to new: AllocationSites, symbols: SymbolTable, options: ProfileOptions = ProfileOptions()
  ) -> [UInt8] {
    var builder = builder(new, symbols, options)
    for row in new.rows { add(row, row.count, Int64(clamping: row.bytes), symbols, options, &builder) }
    for row in old.rows { add(row, -row.count, -Int64(clamping: row.bytes), symbols, options, &builder) }
    for place in new.allocated { add(place, 1, symbols, &builder) }
    for place in old.allocated { add(place, -1, symbols, &builder) }
    builder.comment("\(options.tool.name) \(options.tool.version): what changed in memory of \(new.path)")
    builder.setTimes(seconds: new.taken, duration: new.taken - old.taken)
    return builder.serialized()
  }

  private static func builder(
    _ sites: AllocationSites, _ symbols: SymbolTable, _ options: ProfileOptions
  ) -> ProfileBuilder {
    var builder = ProfileBuilder(labels: options.labels, sampleBytes: sites.sampleBytes, view: options.view)
    if let sampleBytes = sites.sampleBytes {
      builder.comment("estimates from a sample: one allocation for \(sampleBytes) bytes on average")
    }
    var named = Set<String>()
    for frame in symbols.frames.values.joined() where frame.file != nil { named.insert(frame.module) }
    builder.add(
      sites.modules, symbolized: Set(sites.modules.map(\.path).filter { named.contains(SymbolText.fileName($0)) }))
    for (name, text) in options.labels.sorted(by: { $0.key < $1.key }) { builder.comment("\(name)=\(text)") }
    return builder
  }

  private static func add(
    _ place: AllocationSites.Allocated, _ sign: Int64, _ symbols: SymbolTable, _ builder: inout ProfileBuilder
  ) {
    builder.add(
      place.stack.filter { $0 > 0 }.map { builder.location(at: $0 - 1, symbols[$0 - 1] ?? []) }, [:],
      .init(
        allocatedCount: sign * Int64(clamping: place.count), allocatedBytes: sign * Int64(clamping: place.bytes)))
  }

  private static func add(
    _ row: AllocationSites.Row, _ count: Int, _ bytes: Int64, _ symbols: SymbolTable, _ options: ProfileOptions,
    _ builder: inout ProfileBuilder
  ) {
    // Return addresses: the call is before them.
    let locations = row.stack.filter { $0 > 0 }.map { builder.location(at: $0 - 1, symbols[$0 - 1] ?? []) }
    var labels: ProfileBuilder.Labels = [:]
    if options.details.contains(.type) { labels["type"] = row.type }
    if options.details.contains(.module) { labels["module"] = row.module }
    if options.details.contains(.generation) { labels["generation"] = String(row.generation) }
    builder.add(locations, labels, count: Int64(count), bytes: bytes)
  }
}

/// What a profile shows beside stacks and numbers.
package struct ProfileOptions: Sendable {
  /// Labels of a sample that say what its blocks are.
  package enum Detail: String, Sendable, CaseIterable {
    case type, module, generation
  }

  /// What makes the profile.
  package var tool: LeakReport.Tool
  /// Labels of every sample, such as the name of the service; also comments of the profile.
  package var labels: [String: String]
  package var details: Set<Detail>
  /// The kind of value that is shown first.
  package var view: ProfileView

  package init(
    tool: LeakReport.Tool = LeakReport.Tool(), labels: [String: String] = [:],
    details: Set<Detail> = Set(Detail.allCases), view: ProfileView = .inUse
  ) {
    self.view = view
    self.tool = tool
    self.labels = labels
    self.details = details
  }
}
