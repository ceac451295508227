import UndeadReport

/// Which references own what they refer to: "What holds what" in `Documentation/heap-format.md`.
package final class HeapOwnership {
  /// By reference: true if its source owns its target.
  package let owns: UnsafeBufferPointer<Bool>
  /// By root edge.
  package let rootOwns: UnsafeBufferPointer<Bool>
  /// By block: counted references to it from blocks that are as reachable as it is.
  package let counted: UnsafeBufferPointer<UInt32>
  /// By block: false if it is leaked, or memory of C code that nothing names.
  package let reached: UnsafeBufferPointer<Bool>
  /// Memory of deallocated objects, and tables of references to them, that weak and unowned references alone keep.
  private let outlived: [UInt32: UInt32]

  /// True for memory of a deallocated object that an unowned reference keeps, or a table that a weak one keeps.
  package func outlives(_ block: Int) -> Bool { placeOutliving(block) != nil }

  /// The place of a reference that keeps such a block.
  package func placeOutliving(_ block: Int) -> Int? {
    outlived.isEmpty ? nil : outlived[UInt32(block)].map(Int.init)
  }

  /// Who may own a block.
  private enum Owners: UInt8 {
    case counted, countedAndGlobals
    /// What is missing in the count, frames of tasks may account for: these and globals, not other words.
    case framesAndGlobals
    /// Memory without a count that a field of a known type names: that and globals, not words of untyped memory or of threads.
    case typedAndGlobals
    case all

    /// Whether a word that is not counted may own, by where it lies.
    func allowsWord(in holder: Holder) -> Bool {
      switch self {
      case .counted, .countedAndGlobals: false
      case .framesAndGlobals: holder == .frame
      case .typedAndGlobals: holder == .type
      case .all: true
      }
    }
  }

  /// Where a reference that is not counted lies.
  private enum Holder: UInt8 { case type, frame, memory }

  init(_ graph: HeapGraph) {
    let reached = Self.reached(graph)
    let strengths = graph.file.places.map { UInt8($0.strength) }
    let outlived = Self.outlived(graph, reached, strengths)
    // Records of libraries, as libdispatch's, refer to each other, and what owns them may be memory of which nothing is known.
    let holders = Self.holders(graph.file)
    let counted = Self.count(graph, reached, strengths)
    let owners = Self.owners(graph, reached, holders, counted)
    var (owns, rootOwns) = Self.references(graph, reached, strengths, holders, owners, counted, outlived)
    if Self.widen(owners, graph, reached, owns, rootOwns) {
      owns.deallocate()
      rootOwns.deallocate()
      (owns, rootOwns) = Self.references(graph, reached, strengths, holders, owners, counted, outlived)
    }
    owners.deallocate()
    self.rootOwns = UnsafeBufferPointer(rootOwns)
    self.owns = UnsafeBufferPointer(owns)
    self.counted = UnsafeBufferPointer(counted)
    self.reached = UnsafeBufferPointer(reached)
    self.outlived = outlived
  }

  deinit {
    owns.deallocate()
    rootOwns.deallocate()
    counted.deallocate()
    reached.deallocate()
  }

  /// By place.
  private static func holders(_ file: HeapFile) -> [Holder] {
    let snapshot = file.snapshot
    return file.places.map { place in
      let isWord = place.strength == HeapFile.Strength.perhaps
      let mayOwn = isWord || place.strength == HeapFile.Strength.counted || place.strength == HeapFile.Strength.raw
      guard place.holder != Snapshot.none, mayOwn else { return .memory }
      let type = snapshot.types[Int(place.holder)]
      if type.kind == .task { return isWord ? .frame : .type }
      if type.kind == .other { return snapshot.strings[type.name] == NodeNames.asyncFrames ? .frame : .memory }
      return isWord ? .memory : .type
    }
  }

  /// The references, and those of roots, that own; the caller deallocates the answers.
  private static func references(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ strengths: [UInt8], _ holders: [Holder],
    _ owners: UnsafeMutableBufferPointer<Owners>, _ counted: UnsafeMutableBufferPointer<UInt32>,
    _ outlived: [UInt32: UInt32]
  ) -> (owns: UnsafeMutableBufferPointer<Bool>, rootOwns: UnsafeMutableBufferPointer<Bool>) {
    let owns = UnsafeMutableBufferPointer<Bool>.filled(graph.targets.count, with: false)
    // What is asked of millions of references is asked once for each place.
    let isWord = strengths.map { UInt32($0) == HeapFile.Strength.raw || UInt32($0) == HeapFile.Strength.perhaps }
    let isCounted = strengths.map { UInt32($0) == HeapFile.Strength.counted }
    let isNone = strengths.map { UInt32($0) == HeapFile.Strength.none && !outlived.isEmpty }
    for block in 0..<graph.count {
      let isReached = reached[block]
      for edge in graph.edges(of: block) {
        let (target, place) = (Int(graph.targets[edge]), Int(graph.places[edge]))
        guard
          isCounted[place] || (isWord[place] && owners[target].allowsWord(in: holders[place]))
            || (isNone[place] && outlived[UInt32(target)] != nil)
        else { continue }
        owns[edge] = reached[target] == isReached
      }
    }
    let rootOwns = rootOwns(graph, reached, owners)
    addDoubtful(graph, reached, owners, owns, rootOwns)
    addTasks(graph, owns, rootOwns, counted)
    return (owns, rootOwns)
  }

  /// A task that waits stays in memory until it has ended, whatever may resume it: one that no owner leads to is held by itself.
  private static func addTasks(
    _ graph: HeapGraph, _ owns: UnsafeMutableBufferPointer<Bool>, _ rootOwns: UnsafeMutableBufferPointer<Bool>,
    _ counted: UnsafeMutableBufferPointer<UInt32>
  ) {
    guard !graph.file.taskRoots.isEmpty else { return }
    var held = HeldBlocks(graph, owns, rootOwns)
    defer { held.deallocate() }
    // What has no handle comes first: it may hold those that have one.
    for hasHandle in [false, true] {
      for (number, edge) in graph.rootEdges.enumerated()
      where graph.file.roots[Int(edge.root)].kind == HeapFile.Root.task && (counted[Int(edge.target)] > 0) == hasHandle
      {
        guard !held.isHeld[Int(edge.target)] else { continue }
        rootOwns[number] = true
        held.hold(from: edge.target)
      }
    }
  }

  /// Memory of C and an object that have each other may belong to the former's owner: where no root leads to what only
  /// fields own, every word counts after all. False if there is none.
  private static func widen(
    _ owners: UnsafeMutableBufferPointer<Owners>, _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>,
    _ owns: UnsafeMutableBufferPointer<Bool>, _ rootOwns: UnsafeMutableBufferPointer<Bool>
  ) -> Bool {
    let held = HeldBlocks(graph, owns, rootOwns)
    defer { held.deallocate() }
    var isWider = false
    for block in 0..<graph.count where reached[block] && !held.isHeld[block] && owners[block] == .typedAndGlobals {
      owners[block] = .all
      isWider = true
    }
    return isWider
  }

  /// What the instrument reached, and what belongs to that without a word in memory: the side tables of weak references.
  private static func reached(_ graph: HeapGraph) -> UnsafeMutableBufferPointer<Bool> {
    let ofShape = graph.file.shapes.map { $0.has(HeapFile.Shape.reached) }
    let isImplied = graph.file.places.map(\.isImplied)
    let reached = UnsafeMutableBufferPointer<Bool>.filled(graph.count, with: false)
    for block in 0..<graph.count { reached[block] = ofShape[Int(graph.shapes[block])] }
    guard isImplied.contains(true) else { return reached }
    for block in 0..<graph.count where reached[block] {
      for edge in graph.edges(of: block) where isImplied[Int(graph.places[edge])] {
        reached[Int(graph.targets[edge])] = true
      }
    }
    return reached
  }

  /// What a weak or unowned reference of a reached block names that was not reached: a deallocated object, whose memory the
  /// reference keeps, or the table of weak references to one. It counts as reached.
  private static func outlived(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ strengths: [UInt8]
  ) -> [UInt32: UInt32] {
    let tables: ClosedRange<UInt64> = 24...64
    let isKept = graph.file.shapes.map { shape in
      shape.has(HeapFile.Shape.isDead) || (shape.type == Snapshot.none && tables.contains(shape.size))
    }
    let isUnowned = graph.file.places.map(\.isUnowned)
    let isNone = strengths.map { UInt32($0) == HeapFile.Strength.none }
    var found: [UInt32: UInt32] = [:]
    guard isNone.contains(true) else { return found }
    for block in 0..<graph.count where reached[block] {
      for edge in graph.edges(of: block) where isNone[Int(graph.places[edge])] {
        let target = graph.targets[edge]
        guard !reached[Int(target)] else { continue }
        let place = graph.places[edge]
        if isUnowned[Int(place)] || isKept[Int(graph.shapes[Int(target)])] { found[target] = place }
      }
    }
    for block in found.keys { reached[Int(block)] = true }
    return found
  }

  private static func count(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ strengths: [UInt8]
  ) -> UnsafeMutableBufferPointer<UInt32> {
    let counted = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: 0)
    let isCounted = strengths.map { UInt32($0) == HeapFile.Strength.counted }
    for block in 0..<graph.count {
      let isReached = reached[block]
      for edge in graph.edges(of: block) where isCounted[Int(graph.places[edge])] {
        let target = Int(graph.targets[edge])
        if reached[target] == isReached { counted[target] &+= 1 }
      }
    }
    return counted
  }

  /// Who may own each block; the caller deallocates the answer.
  private static func owners(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ holders: [Holder],
    _ counted: UnsafeMutableBufferPointer<UInt32>
  ) -> UnsafeMutableBufferPointer<Owners> {
    let missing = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: .max)
    defer { missing.deallocate() }
    let owners = UnsafeMutableBufferPointer<Owners>.filled(graph.count, with: .all)
    for block in 0..<graph.count {
      let strong = graph.strongCounts[block]
      guard strong != HeapGraph.unknownCount else { continue }
      missing[block] = strong > counted[block] ? strong - counted[block] : 0
      if missing[block] == 0 { owners[block] = .counted }
    }
    for block in 0..<graph.count {
      let isReached = reached[block]
      for edge in graph.edges(of: block) where holders[Int(graph.places[edge])] == .type {
        let target = Int(graph.targets[edge])
        let isHeld = target != block && owners[target] == .all && reached[target] == isReached
        if isHeld, graph.strongCounts[target] == HeapGraph.unknownCount { owners[target] = .typedAndGlobals }
      }
    }
    for edge in graph.rootEdges {
      let root = graph.file.roots[Int(edge.root)]
      let block = Int(edge.target)
      guard root.kind == HeapFile.Root.global, !root.isWeak, missing[block] != .max, missing[block] > 0 else {
        continue
      }
      missing[block] -= 1
      if missing[block] == 0 { owners[block] = .countedAndGlobals }
    }
    addFrames(graph, reached, holders, owners, missing)
    setTasks(graph, owners)
    return owners
  }

  /// What frames of tasks name, no other word owns, if there are enough of them for what is missing in the count.
  private static func addFrames(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ holders: [Holder],
    _ owners: UnsafeMutableBufferPointer<Owners>, _ missing: UnsafeMutableBufferPointer<UInt32>
  ) {
    guard holders.contains(.frame) else { return }
    // By block: the frames that named it last.
    let last = UnsafeMutableBufferPointer<UInt32>.filled(graph.count, with: .max)
    defer { last.deallocate() }
    for block in 0..<graph.count where reached[block] {
      for edge in graph.edges(of: block) where holders[Int(graph.places[edge])] == .frame {
        let target = Int(graph.targets[edge])
        guard owners[target] == .all, missing[target] != .max, missing[target] > 0, last[target] != block else {
          continue
        }
        last[target] = UInt32(block)
        missing[target] -= 1
        if missing[target] == 0 { owners[target] = .framesAndGlobals }
      }
    }
  }

  /// Tasks that wait belong to their handles. Who has one's bare address resumes it, and does not own it; nor does the runtime.
  private static func setTasks(_ graph: HeapGraph, _ owners: UnsafeMutableBufferPointer<Owners>) {
    guard !graph.file.taskRoots.isEmpty else { return }
    let isVariable = graph.file.roots.map { $0.kind == HeapFile.Root.global && !$0.isWeak && !$0.isOfRuntime }
    let isTask = UnsafeMutableBufferPointer<Bool>.filled(graph.count, with: false)
    defer { isTask.deallocate() }
    for edge in graph.rootEdges where graph.file.roots[Int(edge.root)].kind == HeapFile.Root.task {
      owners[Int(edge.target)] = .counted
      isTask[Int(edge.target)] = true
    }
    for edge in graph.rootEdges where isVariable[Int(edge.root)] && isTask[Int(edge.target)] {
      owners[Int(edge.target)] = .countedAndGlobals
    }
  }

  private static func rootOwns(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ owners: UnsafeMutableBufferPointer<Owners>
  ) -> UnsafeMutableBufferPointer<Bool> {
    let owns = UnsafeMutableBufferPointer<Bool>.filled(graph.rootEdges.count, with: false)
    for (number, edge) in graph.rootEdges.enumerated() {
      let root = graph.file.roots[Int(edge.root)]
      let block = Int(edge.target)
      guard !root.isWeak, reached[block], root.kind != HeapFile.Root.task else { continue }
      let isGlobal = root.kind == HeapFile.Root.global
      owns[number] =
        owners[block] == .all || (isGlobal && owners[block] != .counted)
    }
    return owns
  }

  /// A word of a thread that may be stale owns what has a count to spare and no other owner.
  private static func addDoubtful(
    _ graph: HeapGraph, _ reached: UnsafeMutableBufferPointer<Bool>, _ owners: UnsafeMutableBufferPointer<Owners>,
    _ owns: UnsafeMutableBufferPointer<Bool>, _ rootOwns: UnsafeMutableBufferPointer<Bool>
  ) {
    let isOwned = UnsafeMutableBufferPointer<Bool>.filled(graph.count, with: false)
    defer { isOwned.deallocate() }
    for edge in 0..<graph.targets.count where owns[edge] { isOwned[Int(graph.targets[edge])] = true }
    for (number, edge) in graph.rootEdges.enumerated() where rootOwns[number] { isOwned[Int(edge.target)] = true }
    for (number, edge) in graph.rootEdges.enumerated() {
      let root = graph.file.roots[Int(edge.root)]
      let block = Int(edge.target)
      guard root.isWeak, root.kind != HeapFile.Root.global, root.kind != HeapFile.Root.task, reached[block],
        !isOwned[block],
        owners[block] == .all, graph.strongCounts[block] != HeapGraph.unknownCount
      else { continue }
      rootOwns[number] = true
    }
  }
}

extension HeapFile {
  /// By root: true for variables in which the runtime keeps what it makes of generic types (mangled "...MK"). Nothing there resumes a
  /// task, but words are left over in its memory.
  var isCache: [Bool] {
    roots.map { root in
      guard root.kind == Root.global else { return false }
      let name = snapshot.strings[root.name]
      return name.hasPrefix("$s") && name.hasSuffix("MK")
    }
  }
}

/// The blocks that owning references lead to from roots.
private struct HeldBlocks {
  let isHeld: UnsafeMutableBufferPointer<Bool>
  private let graph: HeapGraph
  private let owns: UnsafeMutableBufferPointer<Bool>
  private var waiting: [UInt32] = []

  init(_ graph: HeapGraph, _ owns: UnsafeMutableBufferPointer<Bool>, _ rootOwns: UnsafeMutableBufferPointer<Bool>) {
    (self.graph, self.owns) = (graph, owns)
    isHeld = .filled(graph.count, with: false)
    for (number, edge) in graph.rootEdges.enumerated() where rootOwns[number] { hold(from: edge.target) }
  }

  mutating func hold(from first: UInt32) {
    hold(first)
    while let block = waiting.popLast() {
      for edge in graph.edges(of: Int(block)) where owns[edge] { hold(graph.targets[edge]) }
    }
  }

  private mutating func hold(_ block: UInt32) {
    guard !isHeld[Int(block)] else { return }
    isHeld[Int(block)] = true
    waiting.append(block)
  }

  func deallocate() { isHeld.deallocate() }
}
