import UndeadReport

/// The best way from a root to each block along owning references: as good as its worst reference, and among equal ones the shortest.
package final class HeapPaths {
  /// The reference through which each block is reached; ``none`` for those that a root holds.
  package let edge: UnsafeBufferPointer<UInt32>
  /// The block that has this reference; for those that a root holds the node of the root.
  package let holder: UnsafeBufferPointer<UInt32>
  /// All blocks, holders before what they hold.
  package let order: UnsafeBufferPointer<UInt32>
  /// By block: the worst reference of its path.
  private let worth: UnsafeBufferPointer<PathWorth>

  package static let none = UInt32.max

  private let blocks: Int

  /// - Parameter resumption: true for paths to what may resume tasks, which does not own them.
  convenience init(_ heap: LoadedHeap) { self.init(heap, heap.dominators, resumption: false) }

  init(_ heap: LoadedHeap, _ dominators: HeapDominators, resumption: Bool) {
    var search = PathSearch(heap, resumption: resumption)
    search.run(dominators)
    blocks = heap.graph.count
    edge = UnsafeBufferPointer(search.edge)
    holder = UnsafeBufferPointer(search.holder)
    order = UnsafeBufferPointer(search.order)
    worth = UnsafeBufferPointer(search.worth)
  }

  deinit {
    for buffer in [edge, holder, order] { buffer.deallocate() }
    worth.deallocate()
  }

  /// What the path to a block is worth.
  package func worth(of block: Int) -> PathWorth { worth[block] }

  /// Nobody reads more references; longer paths, as of lists, lose their middle where they are shown.
  private static let toldReferences = 400

  /// The references that are shown of the path from a root to a block, and the node of the root.
  package func toldPath(to block: Int) -> (root: Int, edges: [Int]) {
    var path = path(to: block)
    let half = Self.toldReferences / 2
    if path.edges.count > 2 * half { path.edges.removeSubrange(half..<(path.edges.count - half)) }
    return path
  }

  /// The references from a root to a block, and the node of the root.
  package func path(to block: Int) -> (root: Int, edges: [Int]) {
    var edges: [Int] = []
    var next = block
    while edge[next] != Self.none {
      edges.append(Int(edge[next]))
      next = Int(holder[next])
    }
    return (Int(holder[next]), edges.reversed())
  }
}

/// Searches breadth first, once for each worth: what a better one does not reach is looked for with the next one, from all that
/// was found before.
private struct PathSearch {
  let edge, holder, order: UnsafeMutableBufferPointer<UInt32>
  let worth: UnsafeMutableBufferPointer<PathWorth>
  private let heap: LoadedHeap
  private let resumption: Bool
  /// By place: what a reference there is worth, to what is an object of the program and to other blocks.
  private var toObjects: [PathWorth] = []
  private var toOthers: [PathWorth] = []
  private let isObject: [Bool]
  private var (met, done) = (0, 0)
  private var most = PathWorth.counted
  /// False until all else is found that could resume tasks.
  private var allowsHandles: Bool
  /// By shape: a task that waits, and any.
  private var isWaiting: [Bool]
  private let isTask: [Bool]
  private var withHandles: [UInt32] = []
  /// False until all is found that what owns leads to. Counts may say that a waiting frame owns what a block of libdispatch captured.
  private var allowsBorrowed = false
  private var withBorrowed: [UInt32] = []
  /// By place: a counted reference, as those of handles are.
  private let isHandle: [Bool]
  /// Blocks that have references of a worth that is not yet looked at.
  private var waiting = [PathWorth: [UInt32]]()

  init(_ heap: LoadedHeap, resumption: Bool) {
    (self.heap, self.resumption) = (heap, resumption)
    allowsHandles = !resumption
    isWaiting = Array(repeating: false, count: heap.file.shapes.count)
    for shape in heap.file.taskRoots.keys where isWaiting.indices.contains(Int(shape)) { isWaiting[Int(shape)] = true }
    isTask = heap.types.groupOfShape.map { [groups = heap.types.groups] in groups[Int($0)].kind == .task }
    edge = .filled(heap.graph.count, with: HeapPaths.none)
    holder = .filled(heap.graph.count, with: HeapPaths.none)
    order = .filled(heap.graph.count, with: 0)
    worth = .filled(heap.graph.count, with: .words)
    isObject = heap.types.groups.map { $0.role.isOfProgram || $0.storage != nil }
    isHandle = heap.file.places.map { $0.strength == HeapFile.Strength.counted }
    for place in heap.file.places {
      let group = heap.types.groups[Int(heap.types.holder(of: place))]
      let isFrame =
        group.name == NodeNames.asyncFrames || (group.kind == .task && place.strength == HeapFile.Strength.perhaps)
      let isKnown =
        group.kind != .other || group.name == NodeNames.closureOfC
        || NodeNames.isFieldOfSource(heap.file.snapshot.strings[place.label], of: group.name)
      let isTyped = isKnown && place.strength != HeapFile.Strength.perhaps
      let known: PathWorth? =
        isFrame ? .frames : place.strength == HeapFile.Strength.counted ? .counted : isTyped ? .typed : nil
      toObjects.append(known ?? .words)
      toOthers.append(known ?? .libraries)
    }
  }

  mutating func run(_ dominators: HeapDominators) {
    let nodes = dominators.nodes
    let rows = RootRows(heap.graph) { number, edge in owns(rootEdge: number, edge) }
    let isCache = heap.file.isCache
    let roots = heap.file.roots.indices.map { number in
      (number: number, worth: resumption && isCache[number] ? nil : worth(ofRoot: heap.file.roots[number]))
    }
    search(from: roots, rows, nodes)
    if resumption {
      // A handle resumes no task, and a task that waits not itself: what else leads to it comes first.
      allowsHandles = true
      for block in withHandles { waiting[worth[Int(block)], default: []].append(block) }
      search(from: roots, rows, nodes)
      allowsBorrowed = true
      for block in withBorrowed { waiting[worth[Int(block)], default: []].append(block) }
      search(from: roots, rows, nodes)
      start(from: roots.filter { $0.worth == nil }.map(\.number), rows, nodes)
      spread()
    }
    rows.deallocate()
    for node in [nodes.otherReferences, nodes.unreachable] {
      for block in dominators.children(of: node) where holder[block] == HeapPaths.none {
        meet(block, from: node, by: HeapPaths.none)
      }
      spread()
    }
    assert(met == heap.graph.count)
  }

  private mutating func search(from roots: [(number: Int, worth: PathWorth?)], _ rows: RootRows, _ nodes: HeapNodes) {
    for next in PathWorth.counted.rawValue...PathWorth.words.rawValue {
      most = PathWorth(rawValue: next) ?? .words
      var holding = roots.filter { $0.worth == most }.map(\.number)
      // Where few tasks wait are servers, and not what they serve.
      if most == .frames { holding.sort { (rows.range(of: $0).count, $0) < (rows.range(of: $1).count, $1) } }
      start(from: holding, rows, nodes)
      for block in waiting.removeValue(forKey: most) ?? [] { spread(from: Int(block)) }
      spread()
    }
  }

  private mutating func start(from roots: [Int], _ rows: RootRows, _ nodes: HeapNodes) {
    for root in roots {
      for number in rows.range(of: root) where holder[Int(rows.targets[number])] == HeapPaths.none {
        let target = Int(rows.targets[number])
        if !allowsHandles, waits(target), hasUncountedHandle(target) { continue }
        meet(target, from: nodes.node(ofRoot: root), by: HeapPaths.none)
      }
    }
  }

  private mutating func meet(_ block: Int, from source: Int, by number: UInt32) {
    holder[block] = UInt32(source)
    edge[block] = number
    worth[block] = most
    order[met] = UInt32(block)
    met += 1
  }

  private mutating func spread() {
    while done < met {
      let block = Int(order[done])
      done += 1
      spread(from: block)
    }
  }

  private mutating func spread(from block: Int) {
    var next: PathWorth?
    var (handles, borrows) = (false, false)
    for number in heap.graph.edges(of: block) {
      let target = Int(heap.graph.targets[number])
      guard holder[target] == HeapPaths.none else { continue }
      let place = Int(heap.graph.places[number])
      guard owns(number, target) || (allowsBorrowed && mayBorrow(number, target)) else {
        if resumption, !allowsBorrowed, !borrows { borrows = mayBorrow(number, target) }
        continue
      }
      if !allowsHandles, isHandle[place], waits(target) {
        handles = true
        continue
      }
      let isSame = toObjects[place] == toOthers[place]
      let worth = isSame || isObject[heap.group(target)] ? toObjects[place] : toOthers[place]
      if worth <= most {
        meet(target, from: block, by: UInt32(number))
      } else {
        next = min(next ?? worth, worth)
      }
    }
    if let next { waiting[next, default: []].append(UInt32(block)) }
    // Once: an array may have a million handles.
    if handles { withHandles.append(UInt32(block)) }
    if borrows { withBorrowed.append(UInt32(block)) }
  }

  private func waits(_ block: Int) -> Bool { isWaiting[Int(heap.graph.shapes[block])] }

  /// The task's count has room for a handle in a variable or a frame; the task itself is one of its owners.
  private func hasUncountedHandle(_ task: Int) -> Bool {
    let count = heap.graph.strongCounts[task]
    return count != HeapGraph.unknownCount && count > heap.ownership.counted[task] + 1
  }

  private func owns(_ number: Int, _ target: Int) -> Bool {
    heap.ownership.owns[number]
      || (resumption && isTask[Int(heap.graph.shapes[target])] && heap.ownership.reached[target]
        && heap.graph.place(number).strength != HeapFile.Strength.none)
  }

  private func mayBorrow(_ number: Int, _ target: Int) -> Bool {
    let place = heap.graph.place(number)
    return heap.ownership.reached[target] && place.strength != HeapFile.Strength.none
      && toObjects[Int(heap.graph.places[number])] != .frames
  }

  private func owns(rootEdge number: Int, _ edge: HeapGraph.RootEdge) -> Bool {
    let root = heap.file.roots[Int(edge.root)]
    return heap.ownership.rootOwns[number]
      || (resumption && !root.isWeak && isTask[Int(heap.graph.shapes[Int(edge.target)])])
  }

  /// Nil for roots that come after all others.
  private func worth(ofRoot root: HeapFile.Root) -> PathWorth? {
    switch root.kind {
    case HeapFile.Root.runLoop: .counted
    case HeapFile.Root.global: root.isMapped ? .words : .counted
    case HeapFile.Root.task: resumption ? nil : .frames
    case HeapFile.Root.threadLocal: .locals
    case HeapFile.Root.stack, HeapFile.Root.register: .threads
    default: .words
    }
  }
}
