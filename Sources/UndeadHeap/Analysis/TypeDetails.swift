import UndeadReport
import UndeadSystem

/// What a page shows about the types that matter most: where they were allocated, the largest instances, who holds them by
/// which way, and what they refer to. All of them in one walk over the heap.
package struct TypeDetails {
  package struct Site: Equatable {
    package var stack: Snapshot.Index
    package var count = 0
    package var bytes: UInt64 = 0
  }

  /// Paths of one shape, with a block at the end of one.
  package struct Way: Equatable {
    package var example: Int
    package var count = 0
    package var bytes: UInt64 = 0
  }

  package struct Link: Equatable {
    package var kind: String
    package var field: String
    package var count = 0
    package var bytes: UInt64 = 0
  }

  package struct Detail {
    package var kind: Int
    package var instances: [Int] = []
    package var sites: [Site] = []
    package var ways: [Way] = []
    package var referrers: [Link] = []
    package var references: [Link] = []
    /// How many there are of each, as the lists are cut.
    package var siteCount = 0
    package var wayCount = 0
  }

  package private(set) var details: [Detail] = []
  /// By kind: index of `details`; -1 for none.
  package private(set) var ofKind: [Int]

  private let heap: LoadedHeap
  private let kinds: HeapKinds
  private static let rows = 10

  /// - Parameter limit: most types.
  package init(_ heap: LoadedHeap, _ kinds: HeapKinds, limit: Int = 150) {
    self.heap = heap
    self.kinds = kinds
    ofKind = [Int](repeating: -1, count: kinds.kinds.count)
    choose(limit)
    walkBlocks()
    walkReferences()
  }

  /// Most of what retains most, and some of what there are most of.
  private mutating func choose(_ limit: Int) {
    let tally = kinds.tally
    func ranked(_ weight: (Int) -> UInt64) -> [Int] {
      kinds.kinds.indices.filter { tally.counts[$0] > 0 }.ordered { a, b in
        (weight(b), kinds.kinds[a].name, kinds.kinds[a].module ?? "")
          < (weight(a), kinds.kinds[b].name, kinds.kinds[b].module ?? "")
      }
    }
    let byRetained = ranked { tally.retained[$0] }
    for kind in byRetained.prefix(limit * 2 / 3)
      + ranked({ UInt64(tally.counts[$0]) }).prefix(limit / 3)
    where ofKind[kind] < 0 {
      ofKind[kind] = details.count
      details.append(Detail(kind: kind))
    }
  }

  // MARK: Blocks

  private mutating func walkBlocks() {
    let graph = heap.graph
    let retained = heap.dominators.retained
    let shapes = HeapPathShapes(heap)
    var sites: [UInt64: Site] = [:]
    var ways: [UInt64: Way] = [:]
    for block in 0..<graph.count {
      let detail = ofKind[Int(kinds.ofBlock[block])]
      guard detail >= 0 else { continue }
      keep(block, in: detail, retained)
      let size = graph.size(block)
      let stack = graph.stack(block)
      let key = UInt64(detail) << 32
      sites[key | UInt64(stack), default: Site(stack: stack)].add(size)
      ways[key | UInt64(shapes.shapeOfBlock[block]), default: Way(example: block)].add(size)
    }
    for (key, site) in sites { details[Int(key >> 32)].sites.append(site) }
    for (key, way) in ways { details[Int(key >> 32)].ways.append(way) }
    for number in details.indices {
      details[number].siteCount = details[number].sites.count
      details[number].wayCount = details[number].ways.count
      details[number].sites = details[number].sites.ordered {
        ($1.bytes, $1.count, $0.stack) < ($0.bytes, $0.count, $1.stack)
      }
      details[number].ways = details[number].ways.ordered {
        ($1.count, $1.bytes, $0.example) < ($0.count, $0.bytes, $1.example)
      }
      details[number].sites = Array(details[number].sites.prefix(Self.rows))
      details[number].ways = Array(details[number].ways.prefix(Self.rows))
    }
  }

  /// Keeps a block if it is among those that retain most.
  private mutating func keep(_ block: Int, in detail: Int, _ retained: UnsafeBufferPointer<UInt64>) {
    let instances = details[detail].instances
    if instances.count == Self.rows, let last = instances.last, retained[last] >= retained[block] {
      return
    }
    let place = instances.firstIndex { retained[$0] < retained[block] } ?? instances.count
    details[detail].instances.insert(block, at: place)
    if instances.count == Self.rows { details[detail].instances.removeLast() }
  }

  // MARK: References

  private mutating func walkReferences() {
    let graph = heap.graph
    var links: [LinkKey: (count: Int, bytes: UInt64)] = [:]
    for block in 0..<graph.count {
      let holder = kinds.ofBlock[block]
      for edge in graph.edges(of: block) where heap.ownership.owns[edge] {
        let target = Int(graph.targets[edge])
        let kind = kinds.ofBlock[target]
        guard ofKind[Int(kind)] >= 0 || ofKind[Int(holder)] >= 0 else { continue }
        let key = LinkKey(holder: holder, place: graph.places[edge], target: kind)
        links[key, default: (0, 0)].count += 1
        links[key]?.bytes &+= graph.size(target)
      }
    }
    var referrers: [Int: [String: Link]] = [:]
    var references: [Int: [String: Link]] = [:]
    for (key, link) in links {
      let (target, holder) = (Int(key.target), Int(key.holder))
      let field = field(ofPlace: Int(key.place))
      func add(_ table: inout [Int: [String: Link]], _ detail: Int, _ kind: Int) {
        guard detail >= 0 else { return }
        let name = name(kind)
        let id = "\(name)\u{0}\(field)"
        table[detail, default: [:]][id, default: Link(kind: name, field: field)].add(
          link.count, link.bytes)
      }
      add(&referrers, ofKind[target], holder)
      add(&references, ofKind[holder], target)
    }
    for number in details.indices {
      details[number].referrers = Self.worst(referrers[number])
      details[number].references = Self.worst(references[number])
    }
  }

  private static func worst(_ links: [String: Link]?) -> [Link] {
    let sorted = (links ?? [:]).values.ordered { a, b in
      (b.count, b.bytes, a.kind, a.field) < (a.count, a.bytes, b.kind, b.field)
    }
    return Array(sorted.prefix(rows))
  }

  private func field(ofPlace number: Int) -> String { heap.field(of: heap.file.places[number]) }

  /// A kind as links name it.
  package func name(_ kind: Int) -> String {
    kinds.kinds[kind].name + (kinds.kinds[kind].module.map { " (\($0))" } ?? "")
  }
}

extension TypeDetails.Site {
  fileprivate mutating func add(_ size: UInt64) {
    count += 1
    bytes &+= size
  }
}

extension TypeDetails.Way {
  fileprivate mutating func add(_ size: UInt64) {
    count += 1
    bytes &+= size
  }
}

extension TypeDetails.Link {
  fileprivate mutating func add(_ count: Int, _ bytes: UInt64) {
    self.count += count
    self.bytes &+= bytes
  }
}
