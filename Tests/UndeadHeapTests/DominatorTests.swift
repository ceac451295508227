import Testing
import UndeadHeapSamples
import UndeadReport
import UndeadTestSupport

@testable import UndeadHeap

@Suite struct DominatorTests {
  /// What frames of a task hold is the task's, whatever words of C memory name it or the task.
  @Test func tasksThatWaitAreRoots() throws {
    var heap = HeapBuilder()
    let records = heap.foreign(size: 64)
    let task = heap.object("Task", size: 208, kind: .task, isOfProgram: false, strong: 1)
    let frames = heap.object(NodeNames.asyncFrames, size: 512, kind: .other, isOfProgram: false)
    let session = heap.object("App.Session", size: 48, strong: 1)
    heap.link(records, "", task, strength: HeapFile.Strength.raw)
    heap.link(records, "", session, strength: HeapFile.Strength.raw, offset: 24)
    heap.link(task, "async frame", frames, strength: HeapFile.Strength.raw)
    heap.link(frames, "async frame", session, strength: HeapFile.Strength.perhaps)
    heap.global("_dispatch_timers_heap", holds: records)
    let stack = heap.stack([.system("sleep"), .app("App.Session.serve() async -> ()")])
    let graph = try heap.file().graph()
    heap.waits = [withExtendedLifetime(graph) { .init(shape: graph.shapes[task], stack: stack) }]
    let loaded = try LoadedHeap(heap.file())
    let (root, edges) = loaded.paths.path(to: session)
    #expect(loaded.root(ofNode: root).kind == "task" && edges.count == 2)
    #expect(loaded.paths.worth(of: session) == .frames)
    #expect(loaded.dominators.retained[records] == 64 && loaded.dominators.retained[task] == 208 + 512 + 48)
    // Who has its bare address may resume it.
    #expect(loaded.root(ofNode: loaded.resumptions.path(to: task).root).name == "_dispatch_timers_heap")
  }

  /// Words without a type come last, however short the path is.
  @Test func referencesOfKnownTypesComeFirst() throws {
    var heap = HeapBuilder()
    let records = heap.foreign(size: 64)
    let (list, cache) = (heap.object("App.List", size: 48), heap.object("App.Cache", size: 48))
    let entry = heap.object("App.Entry", size: 48, strong: 3)
    heap.link(records, "", entry, strength: HeapFile.Strength.raw)
    heap.global("type metadata instantiation cache", holds: records)
    heap.global("App.list", holds: list)
    heap.link(list, "cache", cache)
    heap.link(cache, "entry", entry)
    let loaded = try LoadedHeap(heap.file())
    let (root, edges) = loaded.paths.path(to: entry)
    #expect(loaded.root(ofNode: root).name == "App.list" && edges.count == 2)
    #expect(loaded.paths.worth(of: entry) == .counted)
  }

  /// A heap of random blocks, references, counts and roots.
  private static func random(_ seed: UInt64) -> HeapBuilder {
    var random = SeededGenerator(seed: seed)
    var heap = HeapBuilder()
    let count = Int.random(in: 1...14, using: &random)
    var blocks: [Int] = []
    for number in 0..<count {
      let size = UInt64(16 << Int.random(in: 0...4, using: &random))
      switch Int.random(in: 0...5, using: &random) {
      case 0: blocks.append(heap.foreign(size: size, reached: number % 5 != 0))
      case 1: blocks.append(heap.raw(size: size))
      default:
        let strong = Bool.random(using: &random) ? nil : UInt32.random(in: 0...3, using: &random)
        let type = "App.T\(Int.random(in: 0...3, using: &random))"
        blocks.append(
          heap.object(type, size: size, strong: strong, reached: Int.random(in: 0...6, using: &random) > 0))
      }
    }
    for _ in 0..<Int.random(in: 0...(count * 2), using: &random) {
      heap.link(
        blocks.randomElement(using: &random)!, "f\(Int.random(in: 0...3, using: &random))",
        blocks.randomElement(using: &random)!, strength: [0, 0, 0, 0, 1, 2, 3, 4].randomElement(using: &random)!)
    }
    for root in 0..<Int.random(in: 0...4, using: &random) {
      let held = (0..<Int.random(in: 0...3, using: &random)).map { _ in blocks.randomElement(using: &random)! }
      _ = heap.root(
        UInt32.random(in: 1...4, using: &random), "root\(root)", isWeak: Int.random(in: 0...4, using: &random) == 0,
        holds: held)
    }
    return heap
  }

  /// Owning references as the rule of the format says it, block by block.
  private struct Reference {
    let graph: HeapGraph
    var edges: [(from: Int, to: Int)] = []
    /// Blocks that only fields would own, but to which no root leads then.
    private var lost: Set<Int> = []
    private var ofFields: Set<Int> = []
    /// Memory of deallocated objects that weak and unowned references of reached blocks keep.
    private var outlived: Set<Int> = []

    init(_ graph: HeapGraph) {
      self.graph = graph
      outlived = Set(
        (0..<graph.count).filter(isReached).flatMap { graph.edges(of: $0) }.filter(keepsMemory)
          .map { Int(graph.targets[$0]) }.filter { !isReached($0) })
      for block in 0..<graph.count { addOwners(of: block) }
      var held = Set(edges.filter { $0.from >= graph.count }.map(\.to))
      while let next = edges.first(where: { held.contains($0.from) && !held.contains($0.to) }) { held.insert(next.to) }
      lost = ofFields.filter { isReached($0) && !held.contains($0) }
      edges = []
      for block in 0..<graph.count { addOwners(of: block) }
    }

    func isReached(_ block: Int) -> Bool {
      graph.shape(block).has(HeapFile.Shape.reached) || outlived.contains(block)
    }

    /// True for an unowned reference, and for one that owns nothing to a dead object or what may be a table of weak references.
    private func keepsMemory(_ edge: Int) -> Bool {
      let (place, shape) = (graph.place(edge), graph.shape(Int(graph.targets[edge])))
      let mayBeTable = shape.type == Snapshot.none && 24...64 ~= shape.size
      return place.strength == HeapFile.Strength.none
        && (place.isUnowned || mayBeTable || shape.has(HeapFile.Shape.isDead))
    }

    private mutating func addOwners(of block: Int) {
      var (counted, maybe, typed, keepers): ([Int], [Int], [Int], [Int]) = ([], [], [], [])
      var isHeldByField = false
      for source in 0..<graph.count where isReached(source) == isReached(block) {
        for edge in graph.edges(of: source) where Int(graph.targets[edge]) == block {
          let isField = graph.place(edge).holder != Snapshot.none
          switch graph.place(edge).strength {
          case 0:
            counted.append(source)
            isHeldByField = isHeldByField || (isField && source != block)
          case 1:
            maybe.append(source)
            if isField { typed.append(source) }
            isHeldByField = isHeldByField || (isField && source != block)
          case 3: maybe.append(source)
          case HeapFile.Strength.none where outlived.contains(block): keepers.append(source)
          default: break
          }
        }
      }
      var (globals, others, doubtful): ([Int], [Int], [Int]) = ([], [], [])
      for edge in graph.rootEdges where Int(edge.target) == block && isReached(block) {
        let root = graph.file.roots[Int(edge.root)]
        guard !root.isWeak else {
          if root.kind != 1 { doubtful.append(graph.count + Int(edge.root)) }
          continue
        }
        if root.kind == 1 {
          globals.append(graph.count + Int(edge.root))
        } else {
          others.append(graph.count + Int(edge.root))
        }
      }
      let strong = graph.strongCounts[block]
      var owners = counted + globals + maybe + others
      if strong != HeapGraph.unknownCount {
        if counted.count >= Int(strong) {
          owners = counted
        } else if counted.count + globals.count >= Int(strong) {
          owners = counted + globals
        } else if owners.isEmpty, keepers.isEmpty {
          owners = doubtful
        }
      }
      if strong == HeapGraph.unknownCount, isHeldByField {
        ofFields.insert(block)
        if !lost.contains(block) { owners = counted + typed + globals }
      }
      for owner in owners + keepers { edges.append((owner, block)) }
    }
  }

  /// What can be reached from a node without passing through another.
  private static func reach(from start: Int, without barred: Int?, _ edges: [(from: Int, to: Int)]) -> Set<Int> {
    guard start != barred else { return [] }
    var seen: Set<Int> = [start]
    var queue = [start]
    while let node = queue.popLast() {
      for edge in edges where edge.from == node && edge.to != barred && seen.insert(edge.to).inserted {
        queue.append(edge.to)
      }
    }
    return seen
  }

  @Test(arguments: 0..<UInt64(Thorough.count(80, of: 400)))
  func agreeWithBruteForce(seed: UInt64) throws {
    let graph = try Self.random(seed).file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    let nodes = dominators.nodes
    let reference = Reference(graph)
    var edges = reference.edges
    for node in nodes.blocks..<nodes.top { edges.append((nodes.top, node)) }
    // What no root leads to hangs below one of two nodes: which block of a ring does is free, but it must be needed.
    let held = Self.reach(from: nodes.top, without: nil, edges)
    let attached = (0..<graph.count).filter { block in
      let above = Int(dominators.immediate[block])
      return !held.contains(block) && (above == nodes.otherReferences || above == nodes.unreachable)
    }
    for block in attached {
      let isReached = reference.isReached(block)
      edges.append((isReached ? nodes.otherReferences : nodes.unreachable, block))
    }
    #expect(Self.reach(from: nodes.top, without: nil, edges) == Set(0..<nodes.count))
    for node in 0..<nodes.count where node != nodes.top {
      let rest = Self.reach(from: nodes.top, without: node, edges)
      let dominated = Set(0..<nodes.count).subtracting(rest)
      #expect(dominators.retained[node] == dominated.filter(nodes.isBlock).reduce(0) { $0 + graph.size($1) })
      #expect(Int(dominators.subtree[node]) == dominated.count)
      #expect(Set((0..<nodes.count).filter { dominators.dominates(node, $0) }) == dominated)
    }
  }

  @Test func aRingNeedsOneEntry() throws {
    var heap = HeapBuilder()
    let blocks = (0..<4).map { _ in heap.object("App.Ring", reached: false) }
    // 3 leads into the ring of 0, 1 and 2: it alone is attached.
    for (from, to) in [(0, 1), (1, 2), (2, 0), (3, 1)] { heap.link(blocks[from], "next", blocks[to]) }
    let graph = try heap.file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    let nodes = dominators.nodes
    #expect(Array(dominators.children(of: nodes.unreachable)) == [3])
    #expect(Array(dominators.children(of: 3)) == [1])
    #expect(dominators.chain(of: 0) == [2, 1, 3, nodes.unreachable])
  }

  @Test func aSideTableBelongsToItsObject() throws {
    var heap = HeapBuilder()
    let object = heap.object("App.Owner")
    let table = heap.object("", size: 48, kind: .sideTable, reached: false)
    heap.link(object, "weak references", table, flags: 4)
    heap.global("App.owner", holds: object)
    let graph = try heap.file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    #expect(dominators.immediate[table] == 0 && dominators.retained[0] == 80)
  }

  @Test func aStaleWordOwnsOnlyWhatNobodyElseDoes() throws {
    var heap = HeapBuilder()
    let lonely = heap.object("App.Lonely", strong: 1)
    let dead = heap.object("App.Unowned", strong: 1)
    let held = heap.object("App.Held", strong: 2)
    heap.link(lonely, "held", held)
    _ = heap.root(HeapFile.Root.stack, "stack of thread 2", isWeak: true, holds: [lonely, held])
    _ = heap.root(HeapFile.Root.global, "App.weak", isWeak: true, holds: [dead])
    let read = try LoadedHeap(heap.file())
    let (dominators, nodes) = (read.dominators, read.dominators.nodes)
    #expect(Int(dominators.immediate[lonely]) == nodes.node(ofRoot: 0))
    #expect(Int(dominators.immediate[dead]) == nodes.otherReferences)
    #expect(Int(dominators.immediate[held]) == lonely)
    #expect(read.text(ofNode: nodes.node(ofRoot: 0)) == "stack of thread 2")
  }

  /// Words that malloc's memory and stacks still have do not share what a field has.
  @Test func aFieldOwnsMemoryRatherThanWordsWithoutAType() throws {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner")
    let bytes = heap.foreign(size: 512)
    let table = heap.foreign(size: 64)
    let other = heap.foreign(size: 128)
    heap.link(owner, "_bytes", bytes, strength: HeapFile.Strength.raw)
    heap.link(table, "", bytes, strength: HeapFile.Strength.raw)
    heap.link(table, "", other, strength: HeapFile.Strength.raw)
    heap.global("App.owner", holds: owner)
    heap.global("table", holds: table)
    _ = heap.root(HeapFile.Root.stack, "", thread: 1, holds: [bytes])
    let graph = try heap.file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    #expect(Int(dominators.immediate[bytes]) == owner)
    #expect(Int(dominators.immediate[other]) == table)
  }

  /// As a handle of a C library and the object that it calls back.
  @Test func memoryAndAnObjectThatHaveEachOtherHangOffTheOwnerOfTheMemory() throws {
    var heap = HeapBuilder()
    let list = heap.foreign(size: 64)
    let handle = heap.foreign(size: 512)
    let object = heap.object("App.Callback", strong: 1)
    heap.link(list, "", handle, strength: HeapFile.Strength.raw)
    heap.link(handle, "", object, strength: HeapFile.Strength.raw)
    heap.link(object, "handle", handle, strength: HeapFile.Strength.raw)
    heap.global("list", holds: list)
    let graph = try heap.file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    #expect(Int(dominators.immediate[handle]) == list)
    #expect(Int(dominators.immediate[object]) == handle)
  }

  @Test func whoHasACountToSpareOwns() throws {
    var heap = HeapBuilder()
    let owner = heap.object("App.Owner")
    let owned = heap.object("App.Owned", size: 64)
    let shared = heap.object("App.Shared", size: 128, strong: 2)
    let kept = heap.object("App.Kept", size: 256, strong: 1)
    heap.link(owner, "owned", owned)
    heap.link(owner, "shared", shared)
    heap.global("App.owner", holds: owner)
    heap.global("App.kept", holds: kept)
    _ = heap.root(HeapFile.Root.stack, "", thread: 1, holds: [owner, owned, shared, kept])
    let graph = try heap.file().graph()
    let dominators = HeapDominators(graph, HeapOwnership(graph))
    let nodes = dominators.nodes
    #expect(Int(dominators.immediate[0]) == nodes.node(ofRoot: 0))
    #expect(dominators.immediate[1] == 0)
    // Its second reference is nowhere but on the stack.
    #expect(Int(dominators.immediate[2]) == nodes.top)
    #expect(Int(dominators.immediate[3]) == nodes.node(ofRoot: 1))
    #expect(dominators.retained[nodes.node(ofRoot: 0)] == 32 + 64)
  }
}
