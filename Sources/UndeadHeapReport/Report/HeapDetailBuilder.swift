import UndeadHeap
import UndeadReport

/// Tells of blocks where they come from, who holds them and what they hold.
struct HeapDetailBuilder {
  private let heap: LoadedHeap
  private let selection: HeapSelection

  init(_ heap: LoadedHeap, _ subject: HeapSelection.Subject) throws(HeapQuestionError) {
    self.heap = heap
    selection = try HeapSelection(heap, subject)
  }

  func build(_ symbols: HeapSymbols, limit: Int) -> HeapReport.Detail {
    let referrers = HeapReferrers(heap, selection.blocks)
    defer { referrers.deallocate() }
    let instances = Array(selection.worst.prefix(limit))
    let shapes = selection.shapes(limit: limit)
    let sites = selection.sites()
    var teller = HeapPathTeller(heap)
    for block in instances + shapes.map(\.block) { teller.add(block) }
    symbols.prepare(
      stacks: instances.map(heap.graph.stack) + sites.map(\.stack), functions: teller.functions)
    let paths = teller.tell(symbols.table)
    let groups = selection.groups.count > 1 ? selection.types().map(HeapReport.TypeRow.init) : nil
    let few = HeapReferrers(heap, instances)
    defer { few.deallocate() }
    let incoming = few.incoming()
    let told = zip(instances, paths).map { block, path in
      instance(block, path, symbols, few.count(of: block, incoming[block] ?? []))
    }
    return HeapReport.Detail(
      type: selection.name, count: selection.blocks.count,
      bytes: Int(clamping: selection.bytes),
      retainedBytes: Int(clamping: selection.retained), instances: told,
      referrers: referrers.referrers().map(HeapReport.Referrer.init),
      references: referrers.references().map(HeapReport.OutwardReference.init),
      sites: selection.merged(sites, symbols).prefix(limit).map { HeapReport.SiteRow($0, symbols) },
      paths: zip(shapes, paths.dropFirst(instances.count)).map { .init(count: $0.count, retainPath: $1) },
      types: groups)
  }

  private func instance(
    _ block: Int, _ path: [PathStep], _ symbols: HeapSymbols, _ references: ReferenceCount?
  ) -> HeapReport.Instance {
    let use = heap.graph.use(of: block)
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

extension HeapReport.Referrer {
  fileprivate init(_ row: HeapReferrers.Row) {
    self.init(type: row.type, field: row.field, count: row.count, strength: row.strength)
  }
}

extension HeapReport.OutwardReference {
  fileprivate init(_ row: HeapReferrers.Row) {
    self.init(field: row.field, type: row.type, count: row.count, bytes: row.bytes, strength: row.strength)
  }
}
