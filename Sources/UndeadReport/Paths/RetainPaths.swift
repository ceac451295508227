/// Turns the paths of a snapshot into steps as a programmer sees them.
package final class RetainPaths {
  private let snapshot: Snapshot
  private let chain: ReferenceChain
  /// What run loops hold, by node.
  private let items: [Int: Snapshot.LoopItem]
  /// Whose the references to the first node are, by path.
  private let owners: [Snapshot.Index: Snapshot.OwnerRecord]

  init(_ snapshot: Snapshot) {
    self.snapshot = snapshot
    chain = ReferenceChain(snapshot)
    let listed = snapshot.loopItems.filter { $0.node != Snapshot.none }.map { (Int($0.node), $0) }
    items = Dictionary(listed) { first, _ in first }
    owners = Dictionary(snapshot.owners.map { ($0.path, $0) }) { first, _ in first }
  }

  /// What a run loop holds, if `node` is that.
  func item(_ node: Int) -> Snapshot.LoopItem? { items[node] }

  /// The text of a field of an item; nil if it is empty.
  func text(_ id: StringID) -> String? {
    let text = snapshot.strings[id]
    return text.isEmpty ? nil : text
  }

  /// Edges of a path; empty for none.
  func edges(of path: Snapshot.Index) -> [Int] {
    guard path != Snapshot.none else { return [] }
    let path = snapshot.paths[Int(path)]
    return snapshot.steps[Int(path.firstStep)..<(Int(path.firstStep) + Int(path.stepCount))].map(Int.init)
  }

  /// The node that the root of a path holds.
  func firstNode(of path: Snapshot.Index) -> Int? {
    let index = path == Snapshot.none ? Snapshot.none : snapshot.paths[Int(path)].firstNode
    return index == Snapshot.none ? nil : Int(index)
  }

  /// The steps from the root of a path along `edges` to `end`; a path through what a run loop holds starts there.
  func steps(
    root path: Snapshot.Index, _ edges: [Int], to end: Int, _ names: NodeNames, _ frames: FrameNames
  ) -> [PathStep] {
    var edges = edges
    let worth = edges.map { snapshot.worth(ofEdge: $0, names) }.max() ?? .counted
    let nodes = edges.map { Int(snapshot.edges[$0].from) } + [end]
    let held = nodes.lastIndex { items[$0] != nil }
    let item = held.flatMap { items[nodes[$0]] }
    edges.removeFirst(held ?? 0)
    // C blocks between the root and the first object that has a name tell nothing.
    let start = edges.firstIndex { names.role(of: Int(snapshot.edges[$0].from)).isVisible } ?? edges.startIndex
    edges.removeFirst(start)
    var references = chain.references(edges, names, frames)
    for index in references.indices { addFunction(ofTaskIn: &references[index], edges, names, frames) }
    let shown = references.count
    // Nor do the collections of the run loop and of libdispatch.
    while item == nil, references.count > 1, references[0].isNameless { references.removeFirst() }
    var steps = references.map { PathStep($0) }
    steps.append(PathStep(type: names.type(of: end), field: ""))
    // References are reported of the object that is shown first.
    let isFirst = edges.first.map { Int(snapshot.edges[$0].from) } ?? end == firstNode(of: path)
    steps[0].root = root(of: path, isFirst && references.count == shown, frames)
    let evidence = max(worth, Self.worth(ofRoot: steps[0].root?.kind)).evidence
    steps[0].root?.evidence = evidence
    if let item {
      steps[0].root = PathStep.Root(kind: "runLoop", name: snapshot.strings[item.loop])
      steps[0].item = text(item.kind)
      steps[0].mode = text(item.modes)
      steps[0].name = text(item.name)
    }
    return steps
  }

  /// A task that has started forgets the function of its closure: the outermost call that waits in it is that.
  private func addFunction(
    ofTaskIn reference: inout Reference, _ edges: [Int], _ names: NodeNames, _ frames: FrameNames
  ) {
    guard reference.type == "Task", reference.holdsClosure, reference.closure == nil else { return }
    let tasks = edges.map { Int(snapshot.edges[$0].from) }.filter { names.role(of: $0) == .task }
    // Which of several is meant, their references do not show.
    guard tasks.count == 1, snapshot.nodes[tasks[0]].explanation != Snapshot.none else { return }
    let calls = frames.backtrace(snapshot.nodes[tasks[0]].explanation).frames
    reference.closure = calls.last { !$0.system && $0.symbol.contains("closure #") }
    reference.closure?.inlined = false
  }

  private func root(of index: Snapshot.Index, _ tellsOwners: Bool, _ frames: FrameNames) -> PathStep.Root? {
    guard index != Snapshot.none else { return nil }
    let path = snapshot.paths[Int(index)]
    let kind = Self.rootKind(path.rootKind)
    var root = PathStep.Root(kind: kind, name: kind == "task" ? taskName(path, frames) : rootName(path))
    guard tellsOwners, let record = owners[index], record.counted <= record.strong else { return root }
    root.references = Int(record.strong)
    root.owned = Int(record.strong - record.counted)
    if record.flags & 1 != 0 { root.shared = true }
    return root
  }

  private func taskName(_ path: Snapshot.Path, _ frames: FrameNames) -> String {
    let node = path.firstNode
    let explanation = node == Snapshot.none ? Snapshot.none : snapshot.nodes[Int(node)].explanation
    let own = explanation == Snapshot.none ? nil : frames.backtrace(explanation).firstOwnFrame
    return Self.taskName(own.map(Self.function))
  }

  /// What a task waits in: the function around a closure; of code outside of functions, the closure or `main`.
  static func function(of frame: Frame) -> String {
    if SymbolText.isAsyncMain(frame.symbol) { return "main" }
    let name = TestFinder.qualifiedFunction(of: frame)
    return name.contains(".") ? name : FunctionName.withoutThunks(frame.symbol)
  }

  /// How a root that is a task is called.
  package static func taskName(_ function: String?) -> String {
    function.map { "task that waits in \($0)" } ?? "task of the runtime"
  }

  private static func worth(ofRoot kind: String?) -> PathWorth {
    switch kind {
    case "task": .frames
    case "threadLocal": .locals
    case "stack", "register": .threads
    default: .counted
    }
  }

  /// True if a path begins with a word of a thread.
  func isOfThread(_ index: Snapshot.Index) -> Bool {
    ["stack", "register", "threadLocal"].contains(Self.rootKind(snapshot.paths[Int(index)].rootKind))
  }

  private static func rootKind(_ number: UInt32) -> String {
    switch number {
    case 1: "global"
    case 2: "stack"
    case 3: "threadLocal"
    case 4: "register"
    case 5: "runLoop"
    case 7: "task"
    default: "unknown"
    }
  }

  private func rootName(_ path: Snapshot.Path) -> String {
    let name = snapshot.strings[path.rootName]
    if !name.isEmpty { return Demangler.readable(name) }
    return path.thread == 0 ? "" : "thread \(path.thread)"
  }
}
