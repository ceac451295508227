import UndeadReport
import UndeadSystem

/// A row of a table of types, modules or generations.
package struct HeapRow: Hashable, Sendable {
  package var name: String
  /// Of memory of C code: the library that allocated it.
  package var module: String?
  package var count: Int
  /// Shallow bytes, with those of folded storage.
  package var bytes: UInt64
  package var retained: UInt64

  /// The worst first; equal ones by name.
  static func isWorse(_ a: HeapRow, _ b: HeapRow) -> Bool {
    (b.retained, b.bytes, b.count, a.name, a.module ?? "") < (a.retained, a.bytes, a.count, b.name, b.module ?? "")
  }
}

/// A row of the table of allocation sites.
package struct HeapSiteRow: Hashable, Sendable {
  package var type: String
  package var module: String?
  /// Index of STACKS; none if it was not recorded.
  package var stack: Snapshot.Index
  package var count: Int
  package var bytes: UInt64
  package var retained: UInt64
  /// Of sampled blocks: `count` and `bytes` are those of the samples themselves.
  package var sums: SampleSums?

  /// What the table is ordered by.
  fileprivate var order: (UInt64, UInt64, Int) {
    guard let sums else { return (retained, bytes, count) }
    return (UInt64(exactly: sums.bytes.rounded()) ?? .max, bytes, count)
  }
}

/// A row of the table of roots.
package struct HeapRootRow: Hashable, Sendable {
  package var kind: String
  package var name: String
  /// Blocks that would be freed with it.
  package var count: Int
  package var retained: UInt64
}

/// The tables of `undead heap`, each row counted with what it retains.
package struct HeapTables {
  private let heap: LoadedHeap
  private var modules: HeapModules

  package init(_ heap: LoadedHeap) {
    self.heap = heap
    modules = HeapModules(heap.file.snapshot)
  }

  // MARK: Types

  /// All types, the one that retains most first.
  ///
  /// - Parameters:
  ///   - foldingStorage: true to count storage with the object that dominates it.
  package mutating func types(foldingStorage: Bool) -> [HeapRow] {
    let keys = typeKeys(foldingStorage: foldingStorage)
    let tally = keys.keys.tally(heap)
    return keys.names.enumerated().map { number, name in
      HeapRow(
        name: name.type, module: name.module, count: tally.counts[number], bytes: tally.bytes[number],
        retained: tally.retained[number])
    }.ordered(by: HeapRow.isWorse)
  }

  private typealias TypeName = (type: String, module: String?)

  private mutating func typeKeys(foldingStorage: Bool) -> (keys: HeapKeys, names: [TypeName]) {
    let keys = HeapKeys(heap)
    var names: [TypeName] = []
    let dominators = heap.dominators
    for place in 0..<dominators.nodes.count {
      let block = Int(dominators.order[place])
      guard dominators.nodes.isBlock(block) else { continue }
      let above = Int(dominators.immediate[block])
      if foldingStorage, dominators.nodes.isBlock(above), isFolded(block, into: above) {
        keys.keys[block] = keys.keys[above]
        keys.isCounted[block] = false
        continue
      }
      let group = UInt32(heap.group(block))
      let module = group == heap.types.foreign ? modules.module(ofStack: heap.graph.stack(block)) : 0
      let number = keys.number(UInt64(group) << 32 | UInt64(module))
      keys.keys[block] = number
      if Int(number) == names.count {
        let isForeign = group == heap.types.foreign
        names.append((heap.types.groups[Int(group)].name, isForeign ? modules.names[Int(module)] : nil))
      }
    }
    return (keys, names)
  }

  /// True for storage, and for the bytes of a Data, that a block with a type owns.
  private func isFolded(_ block: Int, into above: Int) -> Bool {
    let (group, owner) = (heap.group(block), heap.group(above))
    guard owner != Int(heap.types.raw), owner != Int(heap.types.foreign) else { return false }
    if heap.types.groups[group].storage != nil { return true }
    let isMemory = group == Int(heap.types.raw) || group == Int(heap.types.foreign)
    return isMemory && [.data, .byteBuffer].contains(heap.types.groups[owner].storage)
  }

  // MARK: Modules

  /// By the module that declares the type; memory without a type by the library that allocated it.
  package mutating func modulesTable() -> [HeapRow] {
    let keys = HeapKeys(heap)
    var names = Numbered<String>()
    var ofGroup = [UInt32?](repeating: nil, count: heap.types.groups.count)
    for block in 0..<heap.graph.count {
      let group = heap.group(block)
      if group == Int(heap.types.raw) || group == Int(heap.types.foreign) {
        keys.keys[block] = names.number(modules.name(ofStack: heap.graph.stack(block)))
      } else if let known = ofGroup[group] {
        keys.keys[block] = known
      } else {
        let found = names.number(heap.types.groups[group].module)
        ofGroup[group] = found
        keys.keys[block] = found
      }
    }
    let tally = HeapTally(heap, keys: UnsafeBufferPointer(keys.keys), keyCount: names.all.count)
    return rows(names.all, tally)
  }

  private func rows(_ names: [String], _ tally: HeapTally) -> [HeapRow] {
    names.enumerated().map { number, name in
      HeapRow(
        name: name, count: tally.counts[number], bytes: tally.bytes[number], retained: tally.retained[number])
    }.ordered(by: HeapRow.isWorse)
  }

  // MARK: Generations

  /// By the mark after which blocks were born, the oldest first.
  package func generations() -> [HeapRow] {
    let names = Dictionary(heap.file.generations.map { ($0.number, $0.name) }) { first, _ in first }
    let keys = HeapKeys(heap)
    var numbers: [UInt32] = []
    let ofSite = heap.file.sites.map(\.generation)
    for block in 0..<heap.graph.count {
      let site = Int(heap.graph.sites[block])
      let generation = site == 0 ? 0 : ofSite[site - 1]
      keys.keys[block] = keys.number(UInt64(generation))
      if keys.count > numbers.count { numbers.append(generation) }
    }
    let tally = keys.tally(heap)
    return numbers.indices.ordered { numbers[$0] < numbers[$1] }.map { index in
      let number = numbers[index]
      let mark = names[number].map { heap.file.snapshot.strings[$0] } ?? ""
      let name = number == 0 ? "before the first mark" : mark.isEmpty ? "generation \(number)" : mark
      return HeapRow(
        name: name, module: "\(number)", count: tally.counts[index], bytes: tally.bytes[index],
        retained: tally.retained[index])
    }
  }

  // MARK: Roots

  /// What each root alone keeps; what several keep is a row of its own, and so is what none does.
  package func roots() -> [HeapRootRow] {
    let dominators = heap.dominators
    let nodes = dominators.nodes
    var rows: [HeapRootRow] = []
    for node in nodes.blocks..<nodes.top where dominators.subtree[node] > 1 {
      let root = heap.root(ofNode: node)
      rows.append(
        HeapRootRow(
          kind: root.kind, name: root.name, count: Int(dominators.subtree[node]) - 1,
          retained: dominators.retained[node]))
    }
    var shared = HeapRootRow(kind: "shared", name: "several roots", count: 0, retained: 0)
    for child in dominators.children(of: nodes.top) where nodes.isBlock(child) {
      shared.count += Int(dominators.subtree[child])
      shared.retained &+= dominators.retained[child]
    }
    if shared.count > 0 { rows.append(shared) }
    return rows.ordered { ($1.retained, $1.count, $0.kind, $0.name) < ($0.retained, $0.count, $1.kind, $1.name) }
  }

  // MARK: Sites

  /// By type and stack of the allocation. Where these were sampled, rows of samples: the other blocks have no stacks, and
  /// the samples stand for them.
  ///
  /// - Parameters:
  ///   - place: gives what the rows of a stack are merged by; nil to merge none.
  package mutating func sites(mergedBy place: ((Snapshot.Index) -> UInt64)? = nil) -> [HeapSiteRow] {
    let keys = HeapKeys(heap)
    var rows: [HeapSiteRow] = []
    let stacks = heap.file.sites.map(\.stack)
    var places: [Snapshot.Index: UInt64] = [:]
    var last: (shape: UInt32, site: UInt32, key: UInt32)?
    for block in 0..<heap.graph.count {
      let (shape, site) = (heap.graph.shapes[block], heap.graph.sites[block])
      if let last, last.shape == shape, last.site == site {
        keys.keys[block] = last.key
        continue
      }
      let stack = site == 0 ? Snapshot.none : stacks[Int(site) - 1]
      let group = UInt32(heap.group(block))
      let merged: UInt64
      if let known = places[stack] {
        merged = known
      } else {
        merged = place?(stack) ?? UInt64(stack)
        places[stack] = merged
      }
      let number = keys.number(UInt64(group) << 32 ^ merged &* 0x9e37_79b9_7f4a_7c15)
      keys.keys[block] = number
      last = (shape, site, number)
      if Int(number) == rows.count {
        let isForeign = group == heap.types.foreign
        rows.append(
          HeapSiteRow(
            type: heap.types.groups[Int(group)].name,
            module: isForeign ? modules.name(ofStack: stack) : nil, stack: stack, count: 0,
            bytes: 0, retained: 0))
      }
    }
    let tally = keys.tally(heap)
    if heap.file.sampleBytes != nil { addSums(to: &rows, keys) }
    for number in rows.indices {
      rows[number].count = tally.counts[number]
      rows[number].bytes = tally.bytes[number]
      rows[number].retained = tally.retained[number]
    }
    if heap.file.sampleBytes != nil { rows.removeAll { $0.sums == nil } }
    return rows.ordered { a, b in
      a.order == b.order ? (a.type, a.stack) < (b.type, b.stack) : b.order < a.order
    }
  }

  private func addSums(to rows: inout [HeapSiteRow], _ keys: HeapKeys) {
    for block in 0..<heap.graph.count {
      guard let site = heap.graph.site(block), site.isSampled else { continue }
      rows[Int(keys.keys[block])].sums = rows[Int(keys.keys[block])].sums ?? SampleSums()
      rows[Int(keys.keys[block])].sums?.add(size: heap.graph.size(block), mean: site.sampleMean)
    }
  }
}
