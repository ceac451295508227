import UndeadReport
import UndeadSystem

/// Facts about selected blocks together: all that walks them.
extension HeapSelection {
  /// Of all blocks together.
  package var bytes: UInt64 { blocks.reduce(0) { $0 &+ heap.graph.size($1) } }

  /// Those that retain most first.
  package var worst: [Int] {
    blocks.sorted { a, b in
      let (first, second) = (heap.dominators.retained[a], heap.dominators.retained[b])
      return first != second ? first > second : a < b
    }
  }

  /// Of all blocks together, what they dominate counted once.
  package var retained: UInt64 {
    var end: UInt32 = 0
    var sum: UInt64 = 0
    for place in blocks.map({ heap.dominators.position[$0] }).sorted() where place >= end {
      let node = Int(heap.dominators.order[Int(place)])
      sum &+= heap.dominators.retained[node]
      end = place + heap.dominators.subtree[node]
    }
    return sum
  }

  /// The types of the blocks, those that retain most first.
  package func types() -> [HeapRow] {
    var rows: [Int: HeapRow] = [:]
    for block in blocks {
      let group = heap.group(block)
      var row =
        rows[group] ?? HeapRow(name: heap.types.groups[group].name, count: 0, bytes: 0, retained: 0)
      row.count += 1
      row.bytes &+= heap.graph.size(block)
      rows[group] = row
    }
    var tables = HeapTables(heap)
    let retained = Dictionary(
      tables.types(foldingStorage: false).map { ($0.name, $0.retained) }, uniquingKeysWith: { $0 &+ $1 })
    for group in rows.keys { rows[group]!.retained = retained[rows[group]!.name] ?? 0 }
    return rows.values.ordered { ($1.retained, $1.bytes, $0.name) < ($0.retained, $0.bytes, $1.name) }
  }

  /// Where the blocks were allocated, by stack and type, the most frequent first.
  package func sites() -> [HeapSiteRow] {
    var rows: [UInt64: HeapSiteRow] = [:]
    for block in blocks {
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
    return rows.values.ordered { ($1.count, $1.bytes, $0.type, $0.stack) < ($0.count, $0.bytes, $1.type, $1.stack) }
  }

  /// One block of each shape of paths, the most frequent shape first.
  package func shapes(limit: Int) -> [(block: Int, count: Int)] {
    guard blocks.count > 1 else { return [] }
    let shapes = heap.pathShapes
    var nearest: [UInt32: (block: Int, count: Int)] = [:]
    var meant = Set(blocks)
    for number in 0..<heap.graph.count where !meant.isEmpty {
      let block = Int(heap.paths.order[number])
      guard meant.remove(block) != nil else { continue }
      nearest[shapes.shapeOfBlock[block], default: (block, 0)].count += 1
    }
    return Array(nearest.values.ordered { ($1.count, $0.block) < ($0.count, $1.block) }.prefix(limit))
  }

  /// Ways to one line of the program are one.
  package func merged(_ rows: [HeapSiteRow], _ symbols: HeapSymbols) -> [HeapSiteRow] {
    let places = symbols.places(of: rows.map(\.stack))
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
    return merged.ordered { ($1.count, $1.bytes, $0.type, $0.stack) < ($0.count, $0.bytes, $1.type, $1.stack) }
  }
}
