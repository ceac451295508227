import Dispatch
import UndeadReport

/// A heap that was read, with what can be worked out about it, each when it is first asked for.
///
/// Blocks are known by their rank in address order. Not thread-safe.
package final class LoadedHeap {
  package let file: HeapFile
  package let graph: HeapGraph
  package let types: HeapTypes
  package private(set) lazy var ownership = HeapOwnership(graph)
  package var dominators: HeapDominators {
    if let knownDominators { return knownDominators }
    let found = HeapDominators(graph, ownership)
    knownDominators = found
    return found
  }
  private var knownDominators: HeapDominators?
  package private(set) lazy var paths = HeapPaths(self)
  /// The best ways to what may resume tasks, which does not own them.
  package var resumptions: HeapPaths {
    if let knownResumptions { return knownResumptions }
    let found = HeapPaths(self, dominators, resumption: true)
    knownResumptions = found
    return found
  }
  private var knownResumptions: HeapPaths?
  package private(set) lazy var pathShapes = HeapPathShapes(self)
  package private(set) lazy var containers = HeapContainers(self)
  /// By code address: the function of the program there, for the frames of tasks.
  private lazy var taskFunctions = Symbolizer.programFunctions(
    at: file.roots.flatMap { frames(ofTasks: $0) }, modules: file.snapshot.modules)
  /// The same for the frames around the words of stacks.
  private lazy var stackFunctions = Symbolizer.programFunctions(
    at: Set(file.stackWords.map(\.frames)).flatMap(frames(ofStack:)), modules: file.snapshot.modules)
  /// By root and block: the frames around the word that refers to it.
  private lazy var stackWords = Dictionary(
    file.stackWords.filter { $0.edge < UInt64(graph.rootEdges.count) }.map { word in
      (StackWordKey(graph.rootEdges[Int(word.edge)]), word.frames)
    }
  ) { first, _ in first }

  private struct StackWordKey: Hashable {
    let root: UInt32
    let block: UInt32

    init(_ edge: HeapGraph.RootEdge) { (root, block) = (edge.root, edge.target) }
    init(root: Int, block: Int) { (self.root, self.block) = (UInt32(root), UInt32(block)) }
  }

  /// Reads the graph of a heap file.
  ///
  /// - Throws: `SnapshotError` that names the byte and what to do.
  package init(_ file: HeapFile) throws(SnapshotError) {
    self.file = file
    graph = try file.graph()
    types = HeapTypes(file)
  }

  /// Of all blocks.
  package var bytes: UInt64 { (0..<graph.count).reduce(0) { $0 &+ graph.size($1) } }

  /// How many blocks have each shape.
  package var blocksOfShapes: [Int] {
    var counts = [Int](repeating: 0, count: file.shapes.count)
    for block in 0..<graph.count { counts[Int(graph.shapes[block])] += 1 }
    return counts
  }

  /// True if objects of the program's types are lost, however few bytes they have.
  package var hasUnreachableObjects: Bool {
    (0..<graph.count).contains { !ownership.reached[$0] && types.groups[group($0)].role == .program }
  }

  /// Does work that asks for neither dominators nor paths while another thread finds those that reports of tasks need.
  func findingResumptions<Value>(during work: () -> Value) -> Value {
    guard knownResumptions == nil else { return work() }
    // Neither changes what the other one reads.
    nonisolated(unsafe) let (heap, ownership, known) = (self, ownership, knownDominators)
    nonisolated(unsafe) var (value, dominators, paths): (Value?, HeapDominators?, HeapPaths?)
    withoutActuallyEscaping(work) { work in
      nonisolated(unsafe) let work = work
      DispatchQueue.concurrentPerform(iterations: 2) { number in
        if number == 0 {
          value = work()
        } else {
          let found = known ?? HeapDominators(heap.graph, ownership)
          paths = HeapPaths(heap, found, resumption: true)
          dominators = found
        }
      }
    }
    (knownDominators, knownResumptions) = (dominators, paths)
    return value!
  }

  /// Number of the type of a block in ``HeapTypes/groups``.
  package func group(_ block: Int) -> Int {
    let group = types.groupOfShape[Int(graph.shapes[block])]
    guard group == types.foreign else { return Int(group) }
    if let place = ownership.placeOutliving(block) { return Int(types.deadOfPlace[place]) }
    let site = Int(graph.sites[block])
    return Int(site > 0 && file.sites[site - 1].isRaw ? types.raw : types.foreign)
  }

  /// Name of the type of a block, as reports give it.
  package func typeName(_ block: Int) -> String { types.groups[group(block)].name }

  /// Name of the field of a reference; `+24` where only its offset is known.
  package func field(_ edge: Int) -> String {
    field(of: graph.place(edge))
  }

  /// The same of a place.
  package func field(of place: HeapFile.Place) -> String {
    let name = NodeNames.field(file.snapshot.strings[place.label])
    return name.isEmpty ? "+\(place.offset)" : name
  }

  /// Kind and name of a node above the blocks.
  package func root(ofNode node: Int) -> (kind: String, name: String) {
    let nodes = dominators.nodes
    if node == nodes.top { return ("shared", "several roots") }
    if node == nodes.otherReferences { return ("other", "other references") }
    if node == nodes.unreachable { return ("unreachable", "unreachable") }
    return describe(file.roots[node - nodes.blocks])
  }

  /// The same where it is known which block the root holds: of a stack also the function whose frame does so.
  package func root(ofNode node: Int, holding block: Int) -> (kind: String, name: String) {
    var root = root(ofNode: node)
    let number = node - dominators.nodes.blocks
    guard root.kind == "stack", file.roots.indices.contains(number),
      let stack = stackWords[StackWordKey(root: number, block: block)],
      let function = frames(ofStack: stack).lazy.compactMap({ self.stackFunctions[$0] }).first
    else { return root }
    root.name += ", in \(function)"
    return root
  }

  /// A node above the blocks in one text: `global App.cache`, `stack of thread 1`.
  package func text(ofNode node: Int) -> String { Self.text(root(ofNode: node)) }

  /// A root in one text.
  package func text(ofRoot root: HeapFile.Root) -> String { Self.text(describe(root)) }

  private static func text(_ root: (kind: String, name: String)) -> String {
    // The instrument names the words of threads in full: "stack of thread 3", "thread-local variable of thread 3".
    let isOfThread = ["stack", "register", "threadLocal"].contains(root.kind)
    if isOfThread, ["stack of", "register", "thread-local"].contains(where: root.name.hasPrefix) {
      return root.name
    }
    switch root.kind {
    case "shared", "other", "unreachable", "beforeRecording", "task": return root.name.isEmpty ? root.kind : root.name
    case "stack", "register":
      let kind = root.kind == "stack" ? "stack" : "registers"
      return root.name.isEmpty ? kind : "\(kind) of \(root.name)"
    default:
      let kind = root.kind == "threadLocal" ? "thread-local" : root.kind == "runLoop" ? "run loop" : root.kind
      return root.name.isEmpty ? kind : "\(kind) \(root.name)"
    }
  }

  /// Kind and name of a root, as retain paths tell them.
  package func describe(_ root: HeapFile.Root) -> (kind: String, name: String) {
    if root.kind == HeapFile.Root.task {
      return ("task", RetainPaths.taskName(frames(ofTasks: root).lazy.compactMap { self.taskFunctions[$0] }.first))
    }
    let text = file.snapshot.strings[root.name]
    let name = !text.isEmpty ? Demangler.readable(text) : root.thread == 0 ? "" : "thread \(root.thread)"
    switch root.kind {
    case HeapFile.Root.global: return ("global", name)
    case HeapFile.Root.stack: return ("stack", name)
    case HeapFile.Root.threadLocal: return ("threadLocal", name)
    case HeapFile.Root.register: return ("register", name)
    case HeapFile.Root.runLoop: return ("runLoop", name)
    case HeapFile.Root.beforeRecording: return ("beforeRecording", name)
    default: return ("unknown", name)
    }
  }

  private func frames(ofTasks root: HeapFile.Root) -> [UInt64] {
    guard root.kind == HeapFile.Root.task else { return [] }
    return frames(ofStack: Snapshot.Index(truncatingIfNeeded: root.address))
  }

  private func frames(ofStack stack: Snapshot.Index) -> [UInt64] {
    file.snapshot.addresses(ofStack: stack).map { $0 &- 1 }
  }
}
