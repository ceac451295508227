@testable import UndeadReport

/// Builds snapshots of heaps that never were, with code addresses that have names.
struct SyntheticHeap {
  /// A function in a backtrace.
  struct Function: Hashable {
    var symbol: String
    var file: String?
    var line: Int?
    var module: String

    /// A function of the program.
    static func app(_ symbol: String, _ file: String? = nil, _ line: Int? = nil) -> Function {
      Function(symbol: symbol, file: file, line: line, module: "App")
    }

    /// A function of the toolchain.
    static func system(_ symbol: String, _ module: String = "libswiftCore.so") -> Function {
      Function(symbol: symbol, module: module)
    }
  }

  typealias Node = Int

  private(set) var snapshot = Snapshot()
  private var strings = StringInterner()
  private var types: [String: Snapshot.Index] = [:]
  private var stacks: [[Function]: Snapshot.Index] = [:]
  private var functions: [Function: UInt64] = [:]
  private var edges: [Snapshot.Edge] = []
  private var nextOffset: [Node: UInt32] = [:]
  /// Where the program and its heap lie: differs from run to run.
  private let base: UInt64

  init(base: UInt64 = 0x5500_0000_0000) {
    self.base = base
    snapshot.modules = [
      Snapshot.Module(low: base, high: base + 0x10_0000, bias: base, path: "/app/App"),
      Snapshot.Module(
        low: base + 0x1000_0000, high: base + 0x2000_0000, bias: base + 0x1000_0000,
        path: "/usr/lib/libswiftCore.so", flags: 1),
    ]
    snapshot.metadata = [
      .init(key: "path", value: "/app/App"), .init(key: "argument", value: "App"), .init(key: "pid", value: "42"),
      .init(key: "startedAt", value: "1700000000.5"), .init(key: "durationSeconds", value: "1.25"),
    ]
  }

  /// The snapshot as the instrument would have written it.
  var built: Snapshot {
    var result = snapshot
    result.strings = strings.table
    result.edges = edges.sorted { ($0.from, $0.offset) < ($1.from, $1.offset) }
    return result
  }

  /// The report on the snapshot, after a way through the file format.
  func report(_ options: ReportOptions = ReportOptions()) throws -> LeakReport {
    LeakReport(analyzing: [ReportInput(try Snapshot(decoding: built.encoded()))], options: options)
  }

  /// The text report, without colours.
  func text(stacks: Bool = true) throws -> String {
    TextRenderer.render(try report(), options: ReportTextOptions(stacks: stacks))
  }

  // MARK: Nodes

  mutating func node(
    _ name: String, kind: Snapshot.Kind, size: UInt64 = 32, state: Snapshot.State = .leaked, program: Bool = false,
    at stack: [Function] = [], waiting: [Function] = []
  ) -> Node {
    let record = Snapshot.Node(
      address: base + 0x4000_0000 + UInt64(snapshot.nodes.count) * 0x1000, size: size,
      type: type(name, kind, program), stack: self.stack(stack), explanation: self.stack(waiting), state: state)
    snapshot.nodes.append(record)
    return snapshot.nodes.count - 1
  }

  /// An object of a type of the program.
  mutating func object(
    _ name: String, size: UInt64 = 32, state: Snapshot.State = .leaked, at stack: [Function] = []
  ) -> Node {
    node(name, kind: .object, size: size, state: state, program: true, at: stack)
  }

  /// An object of the toolchain.
  mutating func toolchain(
    _ name: String, size: UInt64 = 32, state: Snapshot.State = .leaked, at stack: [Function] = []
  ) -> Node {
    node(name, kind: .object, size: size, state: state, at: stack)
  }

  /// A closure context.
  mutating func context(_ name: String = "closure context", state: Snapshot.State = .leaked) -> Node {
    node(name, kind: .context, state: state)
  }

  /// Of the node's backtrace only the innermost calls are known.

  private mutating func type(_ name: String, _ kind: Snapshot.Kind, _ program: Bool) -> Snapshot.Index {
    if let known = types[name] { return known }
    let index = Snapshot.Index(snapshot.types.count)
    snapshot.types.append(
      Snapshot.TypeRecord(
        isa: base + 0x100 * UInt64(index), name: strings.intern(name), kind: kind, flags: program ? 1 : 0))
    types[name] = index
    return index
  }

  private mutating func stack(_ functions: [Function]) -> Snapshot.Index {
    guard !functions.isEmpty else { return Snapshot.none }
    if let known = stacks[functions] { return known }
    let index = Snapshot.Index(snapshot.stacks.count)
    let addresses = functions.map { address(of: $0) + 1 }
    snapshot.stacks.append(.init(first: UInt32(snapshot.frames.count), count: UInt32(addresses.count)))
    snapshot.frames += addresses
    stacks[functions] = index
    return index
  }

  /// The address under which a function is looked up.
  private mutating func address(of function: Function) -> UInt64 {
    if let known = functions[function] { return known }
    let module: UInt64 = function.module == "App" ? 0 : 0x1000_0000
    let offset = module + 0x1000 + 0x10 * UInt64(functions.count)
    functions[function] = base + offset
    snapshot.symbols[base + offset] = [
      Frame(
        symbol: function.symbol, file: function.file, line: function.line, module: function.module,
        offset: offset - module)
    ]
    return base + offset
  }

  // MARK: References

  mutating func link(
    _ from: Node, _ label: String, _ to: Node, type: String = "", closure: Function? = nil, weak: Bool = false,
    implied: Bool = false
  ) {
    let offset = nextOffset[from, default: 16]
    nextOffset[from] = offset + 8
    edges.append(
      Snapshot.Edge(
        from: UInt32(from), to: UInt32(to), offset: offset, label: strings.intern(label),
        declaredType: strings.intern(type), ownership: weak ? 1 : 0, function: closure.map { address(of: $0) } ?? 0,
        flags: (weak ? 1 : 0) | (implied ? 2 : 0)))
  }

  /// A suspect with a path through the given nodes, which must be linked in this order.
  mutating func suspect(_ kind: UInt32, _ node: Node, by mechanism: Node, root: String, path nodes: [Node]) {
    let path = path(1, root, nodes)
    snapshot.suspects.append(.init(kind: kind, node: UInt32(node), mechanism: UInt32(mechanism), path: path))
  }

  /// What the type of the deallocated owner of a suspect has; nothing in `field` for the type alone.
  mutating func ownerField(_ node: Node, _ owner: String, _ field: String = "", _ type: String = "") {
    snapshot.ownerFields.append(
      .init(
        node: UInt32(node), owner: strings.intern(owner), field: strings.intern(field), type: strings.intern(type)))
  }

  /// A set that nobody owns, and of which a frame of a thread names the first node.
  mutating func frameSuspects(_ nodes: [Node], thread: UInt32) {
    let path = path(2, "stack of thread \(thread)", thread: thread, [nodes[0]])
    for node in nodes {
      snapshot.suspects.append(
        .init(kind: 5, node: UInt32(node), mechanism: Snapshot.none, path: node == nodes[0] ? path : Snapshot.none))
    }
  }

  /// Whose the references are to the first node of the last path.
  mutating func own(references: UInt32, counted: UInt32, shared: Bool = false) {
    let path = UInt32(snapshot.paths.count - 1)
    snapshot.owners.append(.init(path: path, strong: references, counted: counted, flags: shared ? 1 : 0))
  }

  /// A path through the given nodes, which must be linked in this order; root kinds as in the format of snapshots.
  private mutating func path(_ rootKind: UInt32, _ root: String, thread: UInt32 = 0, _ nodes: [Node]) -> UInt32 {
    let sorted = built.edges
    let steps = zip(nodes, nodes.dropFirst()).map { from, to in
      UInt32(sorted.firstIndex { $0.from == UInt32(from) && $0.to == UInt32(to) }!)
    }
    snapshot.paths.append(
      Snapshot.Path(
        rootKind: rootKind, rootName: strings.intern(root), thread: thread, firstNode: UInt32(nodes[0]),
        firstStep: UInt32(snapshot.steps.count), stepCount: UInt32(steps.count), endNode: UInt32(nodes.last!)))
    snapshot.steps += steps
    return UInt32(snapshot.paths.count - 1)
  }

  /// How often a node is retained; all the strong references to it so far are counted ones.
  mutating func retain(_ node: Node, references: UInt16, namedBy flags: UInt32 = 0) {
    for edge in edges.indices where edges[edge].to == UInt32(node) && edges[edge].flags == 0 { edges[edge].flags = 8 }
    snapshot.nodes[node].strong = references
    snapshot.nodes[node].counted = UInt16(edges.count { $0.to == UInt32(node) && $0.flags == 8 })
    snapshot.nodes[node].flags |= flags
  }

  /// A node that is listed for nothing but that it holds another one.
  mutating func markHolder(_ node: Node) { snapshot.nodes[node].flags |= 1 }

  // MARK: What the layers above tell

  /// A watched object that is reached from a root through the given nodes; empty: that nothing reaches.
  mutating func watch(
    _ node: Node, scope: String, ended: [Function] = [], rootKind: UInt32 = 1, root: String = "", thread: UInt32 = 0,
    path nodes: [Node] = []
  ) {
    let path = nodes.isEmpty ? Snapshot.none : path(rootKind, root, thread: thread, nodes)
    snapshot.watched.append(
      .init(node: UInt32(node), scope: strings.intern(scope), stack: stack(ended), path: path))
  }

  mutating func loopItem(
    _ node: Node, _ kind: String = "timer", loop: String = "main", modes: String = "default", name: String = ""
  ) {
    snapshot.loopItems.append(
      .init(
        address: snapshot.nodes[node].address, node: UInt32(node), loop: strings.intern(loop),
        modes: strings.intern(modes), kind: strings.intern(kind), name: strings.intern(name)))
  }

  mutating func diagnostic(
    _ kind: String, _ message: String, details: String = "", at place: [Function] = [],
    traces: [(role: String, place: [Function])] = []
  ) {
    for trace in traces {
      snapshot.traces.append(
        .init(
          diagnostic: UInt32(snapshot.diagnostics.count), role: strings.intern(trace.role), stack: stack(trace.place)))
    }
    snapshot.diagnostics.append(
      .init(
        kind: strings.intern(kind), message: strings.intern(message), details: strings.intern(details),
        stack: stack(place)))
  }

  mutating func setRunLoops(_ json: String) {
    snapshot.runLoops = Array(json.utf8)
  }

  // MARK: Facts

  mutating func count(_ key: String, _ value: UInt64) {
    snapshot.counters.append(.init(key: key, value: value))
  }

  mutating func note(_ text: String) {
    snapshot.notes.append(strings.intern(text))
  }

  mutating func set(_ key: String, _ value: String) {
    snapshot.setMetadata(key, value)
  }

  mutating func setIncomplete() {
    snapshot.isComplete = false
  }
}
