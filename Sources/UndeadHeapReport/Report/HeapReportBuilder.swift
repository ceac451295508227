import UndeadHeap
import UndeadReport

extension HeapReport {
  /// Answers from a heap; the same for the same file and options.
  ///
  /// - Throws: ``HeapQuestionError`` if the subject is not in it.
  package init(
    _ heap: LoadedHeap, options: HeapReportOptions = HeapReportOptions(), tool: LeakReport.Tool = LeakReport.Tool(),
    symbolizer: Symbolizer? = Symbolizer()
  ) throws(HeapQuestionError) {
    let snapshot = heap.file.snapshot
    let symbols = HeapSymbols(heap, symbolizer)
    var tables = HeapTables(heap)
    let least = UInt64(max(options.minBytes, 0))
    func isShown(_ row: HeapRow) -> Bool { row.retained >= least }

    let allTypes = tables.types(foldingStorage: options.foldsStorage)
    var detail: Detail?
    if let subject = options.subject {
      let builder = try HeapDetailBuilder(heap, subject)
      detail = builder.build(symbols, limit: options.detailLimit ?? 5)
    }
    let shownTypes = allTypes.filter(isShown)
    self.init(
      tool: tool, process: LeakReport.Process(snapshot), takenAt: snapshot.takenAt,
      summary: Self.summary(heap),
      types: shownTypes.prefix(options.top ?? .max).map(TypeRow.init),
      modules: tables.modulesTable().filter(isShown).prefix(options.top ?? .max).map(ModuleRow.init),
      sites: [],
      roots: tables.roots().filter { $0.retained >= least }.prefix(options.top ?? .max).map(RootRow.init),
      generations: tables.generations().map(GenerationRow.init), memory: Self.memory(heap.file), detail: detail)
    if options.includesSites {
      sites = HeapSites.rows(&tables, symbols, least: least, top: options.top ?? 200)
    }
    if options.subject == nil {
      verdict = MemoryVerdict(heap, symbols: symbols)
      let tasks = TaskReport(heap, tool: tool, symbols: symbols)
      if tasks.summary.tasks > 0 { self.tasks = tasks.summary }
      self.tasks?.notes = []
      findings = HeapFinding.findings(in: heap, symbols)
    }
    if options.subject == nil, options.includesResources, let resources = HeapResources(heap, symbols) {
      descriptors = resources.descriptors()
      threads = resources.threads()
    }
    summary.notes += symbols.notes
  }

  private static func summary(_ heap: LoadedHeap) -> Summary {
    let file = heap.file
    var summary = Summary()
    var (objectBytes, rawBytes): (UInt64, UInt64) = (0, 0)
    var types: Set<UInt32> = []
    for (number, (shape, count)) in zip(file.shapes, heap.blocksOfShapes).enumerated() where count > 0 {
      if shape.type == Snapshot.none {
        summary.rawBlocks += count
        rawBytes &+= shape.size &* UInt64(count)
      } else {
        summary.objects += count
        objectBytes &+= shape.size &* UInt64(count)
        types.insert(heap.types.groupOfShape[number])
      }
    }
    let unreachable = heap.dominators.nodes.unreachable
    summary.unreachableBlocks = Int(heap.dominators.subtree[unreachable]) - 1
    let unreachableBytes = heap.dominators.retained[unreachable]
    summary.objectBytes = Int(clamping: objectBytes)
    summary.rawBytes = Int(clamping: rawBytes)
    summary.unreachableBytes = Int(clamping: unreachableBytes)
    summary.types = types.count
    summary.residentBytes = file.residentBytes
    summary.mallocFreeBytes = Int(
      clamping: file.memory.filter { $0.kind == HeapFile.MemoryLine.mallocFree }.reduce(0) { $0 &+ $1.resident })
    summary.pauseMilliseconds = milliseconds(file.snapshot.counter("pauseNanoseconds"))
    summary.writeMilliseconds = milliseconds(file.snapshot.counter("heapNanoseconds"))
    summary.fileBytes = file.byteCount
    summary.complete = file.snapshot.isComplete
    summary.notes = file.notes
    summary.sampleBytes = file.sampleBytes
    return summary
  }

  private static func milliseconds(_ nanoseconds: UInt64) -> Double { Double(nanoseconds / 1000) / 1000 }

  private static func memory(_ file: HeapFile) -> [MemoryRow] {
    let rows = file.memory.map { line in
      MemoryRow(
        kind: HeapFile.MemoryLine.name(of: line.kind), name: file.snapshot.strings[line.name],
        residentBytes: Int(clamping: line.resident), reservedBytes: Int(clamping: line.reserved))
    }
    return rows.sorted { ($1.residentBytes, $0.kind, $0.name) < ($0.residentBytes, $1.kind, $1.name) }
  }
}

extension HeapReport.TypeRow {
  init(_ row: HeapRow) {
    self.init(
      type: row.name, module: row.module, count: row.count, bytes: Int(clamping: row.bytes),
      retainedBytes: Int(clamping: row.retained))
  }
}

extension HeapReport.ModuleRow {
  init(_ row: HeapRow) {
    self.init(
      module: row.name, count: row.count, bytes: Int(clamping: row.bytes), retainedBytes: Int(clamping: row.retained))
  }
}

extension HeapReport.GenerationRow {
  init(_ row: HeapRow) {
    self.init(
      number: row.module.flatMap(Int.init) ?? 0, name: row.name, count: row.count, bytes: Int(clamping: row.bytes),
      retainedBytes: Int(clamping: row.retained))
  }
}

extension HeapReport.RootRow {
  init(_ row: HeapRootRow) {
    self.init(kind: row.kind, name: row.name, retainedBytes: Int(clamping: row.retained), count: row.count)
  }
}

extension HeapReport.SiteRow {
  init(_ row: HeapSiteRow, _ symbols: HeapSymbols) {
    let estimate = row.sums?.estimate
    self.init(
      type: row.type, module: row.module, count: estimate?.count ?? row.count,
      bytes: estimate?.bytes ?? Int(clamping: row.bytes), retainedBytes: Int(clamping: row.retained),
      allocation: symbols.backtrace(row.stack), estimate: estimate)
  }
}
