import UndeadReport

/// Tells of blocks where they come from, who holds them and what they hold.
struct HeapDetailBuilder {
  private let heap: LoadedHeap
  private let selection: HeapSelection

  init(_ heap: LoadedHeap, _ subject: HeapReportOptions.Subject) throws(HeapQuestionError) {
    self.heap = heap
    selection = try HeapSelection(heap, subject)
  }

  mutating func build(_ symbols: HeapSymbols, limit: Int) -> HeapReport.Detail {
    let referrers = HeapReferrers(heap, selection.blocks)
    defer { referrers.deallocate() }
    let instances = Array(worst.prefix(limit))
    let shapes = shapes(limit: limit)
    let sites = sites()
    var teller = HeapPathTeller(heap)
    for block in instances + shapes.map(\.block) { teller.add(block) }
    symbols.prepare(
      stacks: instances.map(heap.graph.stack) + sites.map(\.stack), functions: teller.functions)
    let paths = teller.tell(symbols.table)
    let groups = selection.groups.count > 1 ? types() : nil
    let few = HeapReferrers(heap, instances)
    defer { few.deallocate() }
    let incoming = few.incoming()
    let told = zip(instances, paths).map { block, path in
      instance(block, path, symbols, few.count(of: block, incoming[block] ?? []))
    }
    return HeapReport.Detail(
      type: selection.name, count: selection.blocks.count,
      bytes: Int(clamping: selection.blocks.reduce(0) { $0 &+ heap.graph.size($1) }),
      retainedBytes: Int(clamping: retained), instances: told,
      referrers: referrers.referrers(), references: referrers.references(),
      sites: merged(sites, symbols).prefix(limit).map { HeapReport.SiteRow($0, symbols) },
      paths: zip(shapes, paths.dropFirst(instances.count)).map { .init(count: $0.count, retainPath: $1) },
      types: groups)
  }

  private var worst: [Int] {
    selection.blocks.sorted { a, b in
      let (first, second) = (heap.dominators.retained[a], heap.dominators.retained[b])
      return first != second ? first > second : a < b
    }
  }

  /// Of all blocks together, what they dominate counted once.
  private var retained: UInt64 {
    var end: UInt32 = 0
    var sum: UInt64 = 0
    for place in selection.blocks.map({ heap.dominators.position[$0] }).sorted() where place >= end {
      let node = Int(heap.dominators.order[Int(place)])
      sum &+= heap.dominators.retained[node]
      end = place + heap.dominators.subtree[node]
    }
    return sum
  }

  private func types() -> [HeapReport.TypeRow] {
    var rows: [Int: HeapReport.TypeRow] = [:]
    for block in selection.blocks {
      let group = heap.group(block)
      var row =
        rows[group]
        ?? HeapReport.TypeRow(type: heap.types.groups[group].name, count: 0, bytes: 0, retainedBytes: 0)
      row.count += 1
      row.bytes += Int(clamping: heap.graph.size(block))
      rows[group] = row
    }
    var tables = HeapTables(heap)
    let retained = Dictionary(
      tables.types(foldingStorage: false).map { ($0.name, $0.retained) }, uniquingKeysWith: { $0 &+ $1 })
    for group in rows.keys { rows[group]!.retainedBytes = Int(clamping: retained[rows[group]!.type] ?? 0) }
    return rows.values.sorted { ($1.retainedBytes, $1.bytes, $0.type) < ($0.retainedBytes, $0.bytes, $1.type) }
  }

  // MARK: Sites and paths

  private func sites() -> [HeapSiteRow] {
    var rows: [UInt64: HeapSiteRow] = [:]
    for block in selection.blocks {
      let stack = heap.graph.stack(block)
      let key = UInt64(heap.group(block)) << 32 | UInt64(stack)
      var row =
        rows[key] ?? HeapSiteRow(type: heap.typeName(block), stack: stack, count: 0, bytes: 0, retained: 0)
      row.count += 1
      row.bytes &+= heap.graph.size(block)
      row.retained &+= heap.dominators.retained[block]
      if let site = heap.graph.site(block), site.isSampled {
        row.sums = row.sums ?? SampleSums()
        row.sums?.add(size: heap.graph.size(block), mean: site.sampleMean)
      }
      rows[key] = row
    }
    // Samples stand for the others.
    if heap.file.sampleBytes != nil { rows = rows.filter { $0.value.sums != nil } }
    return rows.values.sorted { ($1.count, $1.bytes, $0.type, $0.stack) < ($0.count, $0.bytes, $1.type, $1.stack) }
  }

  private func merged(_ rows: [HeapSiteRow], _ symbols: HeapSymbols) -> [HeapSiteRow] {
    let places = HeapSites.places(rows.map(\.stack), symbols)
    var merged: [HeapSiteRow] = []
    var known: [String: Int] = [:]
    for row in rows {
      let key = "\(places[row.stack] ?? UInt64(row.stack)) \(row.type)"
      if let number = known[key] {
        merged[number].count += row.count
        merged[number].bytes &+= row.bytes
        merged[number].retained &+= row.retained
        if let sums = row.sums { merged[number].sums? += sums }
      } else {
        known[key] = merged.count
        merged.append(row)
      }
    }
    return merged.sorted { ($1.count, $1.bytes, $0.type, $0.stack) < ($0.count, $0.bytes, $1.type, $1.stack) }
  }

  /// One block of each shape of paths, the most frequent shape first.
  private func shapes(limit: Int) -> [(block: Int, count: Int)] {
    guard selection.blocks.count > 1 else { return [] }
    let shapes = heap.pathShapes
    var nearest: [UInt32: (block: Int, count: Int)] = [:]
    var meant = Set(selection.blocks)
    for number in 0..<heap.graph.count where !meant.isEmpty {
      let block = Int(heap.paths.order[number])
      guard meant.remove(block) != nil else { continue }
      nearest[shapes.shapeOfBlock[block], default: (block, 0)].count += 1
    }
    return Array(nearest.values.sorted { ($1.count, $0.block) < ($0.count, $1.block) }.prefix(limit))
  }

  // MARK: Instances

  private func instance(
    _ block: Int, _ path: [PathStep], _ symbols: HeapSymbols, _ references: ReferenceCount?
  ) -> HeapReport.Instance {
    let use = heap.graph.uses.first(where: { $0.rank == UInt32(block) })
    return HeapReport.Instance(
      type: heap.typeName(block), address: Self.text(heap.graph.addresses[block]),
      size: Int(clamping: heap.graph.size(block)), retainedBytes: Int(clamping: heap.dominators.retained[block]),
      allocation: symbols.backtrace(heap.graph.stack(block)), retainPath: path, dominators: dominators(block),
      references: references, used: use.map { Int(clamping: $0.used) },
      capacity: use.map { Int(clamping: $0.capacity) })
  }

  private static func text(_ address: UInt64) -> String { "0x" + String(address, radix: 16) }

  private static let chainLimit = 30

  private func dominators(_ block: Int) -> [HeapReport.Dominator] {
    heap.dominators.chain(of: block).prefix(Self.chainLimit).map { node in
      let isBlock = heap.dominators.nodes.isBlock(node)
      return HeapReport.Dominator(
        type: isBlock ? heap.typeName(node) : heap.text(ofNode: node),
        address: isBlock ? Self.text(heap.graph.addresses[node]) : nil,
        retainedBytes: Int(clamping: heap.dominators.retained[node]))
    }
  }
}
