/// What the instrument wrote about one process at one moment; `Documentation/snapshot-format.md` describes the file.
///
/// A plain value: indices were checked when it was decoded, so the analysis needs no further checks.
public struct Snapshot: Sendable, Equatable {
  /// Position of an entry in another section; ``none`` where there is none.
  public typealias Index = UInt32
  /// The index that means "none".
  public static let none: Index = .max
  /// The newest format version that this code reads, and the one that it writes.
  public static let formatVersion: UInt32 = 1

  /// True if the instrument could look at everything.
  public var isComplete = true
  package var strings = StringTable()
  package var metadata: [MetadataEntry] = []
  package var counters: [Counter] = []
  /// What was mapped, in no particular order.
  public var modules: [Module] = []
  package var types: [TypeRecord] = []
  package var nodes: [Node] = []
  /// Sorted by `from`, then by `offset`.
  package var edges: [Edge] = []
  package var stacks: [Stack] = []
  /// Return addresses.
  package var frames: [UInt64] = []
  package var paths: [Path] = []
  /// Indices of edges.
  package var steps: [Index] = []
  package var suspects: [SuspectRecord] = []
  package var notes: [StringID] = []
  package var watched: [WatchedRecord] = []
  package var loopItems: [LoopItem] = []
  package var diagnostics: [DiagnosticRecord] = []
  package var traces: [TraceRecord] = []
  /// The state of all run loops as JSON; empty if there are none.
  package var runLoops: [UInt8] = []
  /// Uses of dead objects that were seen in the program and its children.
  public var zombies = ZombieFindings()
  /// Names that were saved with the snapshot.
  public var symbols = SymbolTable()

  /// Makes an empty snapshot.
  public init() {}

  /// Path of the process's executable; empty if it is not known.
  public var executablePath: String { metadata("path") ?? "" }

  /// Leaves only what is known of the process as a whole.
  public mutating func removeFindings() {
    (nodes, edges, paths, steps, suspects) = ([], [], [], [], [])
    (watched, loopItems, diagnostics, traces, runLoops) = ([], [], [], [], [])
    counters.removeAll { $0.key.hasPrefix("unreachableC") || $0.key.hasPrefix("dropped") }
  }

  /// A key of META and its value; `argument` occurs once for each argument, in order.
  package struct MetadataEntry: Sendable, Equatable {
    package var key: String
    package var value: String

    package init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A number that the instrument counted.
  package struct Counter: Sendable, Equatable {
    package var key: String
    package var value: UInt64

    package init(key: String, value: UInt64) {
      self.key = key
      self.value = value
    }
  }

  /// An executable or library, mapped at [low, high).
  public struct Module: Sendable, Equatable {
    /// First address.
    public var low: UInt64
    /// Address after the last one.
    public var high: UInt64
    /// What is added to an address of the file to get the address in memory.
    public var bias: UInt64
    /// Path of the file.
    public var path: String
    /// Hexadecimal build id of the file; empty if it has none.
    public var buildID: String
    /// 1: of the toolchain or the system.
    public var flags: UInt32

    /// Makes a module; see the properties for the meaning of each part.
    public init(low: UInt64, high: UInt64, bias: UInt64, path: String, buildID: String = "", flags: UInt32 = 0) {
      self.low = low
      self.high = high
      self.bias = bias
      self.path = path
      self.buildID = buildID
      self.flags = flags
    }

    /// True for the toolchain's and the system's own.
    public var isSystem: Bool { flags & 1 != 0 }
  }

  /// What a node is, by the runtime's kinds.
  package struct Kind: RawRepresentable, Sendable, Hashable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    package static let other = Kind(rawValue: 0)
    package static let object = Kind(rawValue: 1)
    package static let context = Kind(rawValue: 2)
    package static let genericBox = Kind(rawValue: 3)
    package static let errorBox = Kind(rawValue: 4)
    package static let task = Kind(rawValue: 5)
    package static let job = Kind(rawValue: 6)
    package static let sideTable = Kind(rawValue: 7)
  }

  /// A type by its isa, with its module-qualified name.
  package struct TypeRecord: Sendable, Equatable {
    package var isa: UInt64
    package var name: StringID
    package var kind: Kind
    /// 1: a type of the program, not of the toolchain.
    package var flags: UInt32

    package init(isa: UInt64, name: StringID, kind: Kind, flags: UInt32 = 0) {
      self.isa = isa
      self.name = name
      self.kind = kind
      self.flags = flags
    }

    /// True for a type that the program declares.
    package var isOfProgram: Bool { flags & 1 != 0 }
  }

  /// What the scan found out about a block.
  package struct State: RawRepresentable, Sendable, Hashable {
    package var rawValue: UInt32

    package init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    package static let leaked = State(rawValue: 1)
    package static let raw = State(rawValue: 2)
    package static let support = State(rawValue: 3)
    package static let suspect = State(rawValue: 4)
    package static let live = State(rawValue: 5)
  }

  /// A block: a Swift object, raw memory, or a block of C code.
  package struct Node: Sendable, Equatable {
    package var address: UInt64
    /// Usable bytes.
    package var size: UInt64
    package var type: Index
    /// Stack of the allocation.
    package var stack: Index
    /// Stack that explains the node better, such as the async frames of a task.
    package var explanation: Index
    package var state: State
    package var flags: UInt32

    package init(
      address: UInt64, size: UInt64, type: Index, stack: Index = Snapshot.none, explanation: Index = Snapshot.none,
      state: State = .leaked, flags: UInt32 = 0
    ) {
      self.address = address
      self.size = size
      self.type = type
      self.stack = stack
      self.explanation = explanation
      self.state = state
      self.flags = flags
    }
  }

  /// A pointer from one node to another.
  package struct Edge: Sendable, Equatable {
    package var from: Index
    package var to: Index
    /// Of the word in `from`, in bytes.
    package var offset: UInt32
    package var label: StringID
    package var declaredType: StringID
    /// 0 strong, 1 weak, 2 unowned, 3 unowned(unsafe).
    package var ownership: UInt32
    /// Exact address of the function of a closure value, 0 if it is none.
    package var function: UInt64
    /// 1: does not keep `to` alive; 2: implied, not a pointer in memory.
    package var flags: UInt32

    package init(
      from: Index, to: Index, offset: UInt32 = 0, label: StringID = 0, declaredType: StringID = 0,
      ownership: UInt32 = 0, function: UInt64 = 0, flags: UInt32 = 0
    ) {
      self.from = from
      self.to = to
      self.offset = offset
      self.label = label
      self.declaredType = declaredType
      self.ownership = ownership
      self.function = function
      self.flags = flags
    }

    /// True if it keeps `to` alive.
    package var isStrong: Bool { flags & 1 == 0 }
  }

  /// A range of `frames`, innermost first.
  package struct Stack: Sendable, Equatable {
    package var first: UInt32
    package var count: UInt32

    package init(first: UInt32, count: UInt32) {
      self.first = first
      self.count = count
    }
  }

  /// A retain path: a root, the node that it holds, then edges to the node at its end.
  package struct Path: Sendable, Equatable {
    /// 1 global, 2 stack, 3 thread local, 4 register, 5 run loop.
    package var rootKind: UInt32
    package var rootName: StringID
    package var rootAddress: UInt64
    package var thread: UInt32
    package var firstNode: Index
    package var firstStep: UInt32
    package var stepCount: UInt32
    package var endNode: Index

    package init(
      rootKind: UInt32, rootName: StringID = 0, rootAddress: UInt64 = 0, thread: UInt32 = 0, firstNode: Index,
      firstStep: UInt32 = 0, stepCount: UInt32 = 0, endNode: Index
    ) {
      self.rootKind = rootKind
      self.rootName = rootName
      self.rootAddress = rootAddress
      self.thread = thread
      self.firstNode = firstNode
      self.firstStep = firstStep
      self.stepCount = stepCount
      self.endNode = endNode
    }
  }

  /// An object that only something that fires or waits holds, and that holds that thing itself.
  package struct SuspectRecord: Sendable, Equatable {
    /// 1 timer, 2 dispatch source, 3 observer, 4 task.
    package var kind: UInt32
    package var node: Index
    package var mechanism: Index
    package var path: Index

    package init(kind: UInt32, node: Index, mechanism: Index, path: Index = Snapshot.none) {
      self.kind = kind
      self.node = node
      self.mechanism = mechanism
      self.path = path
    }
  }
}

extension Snapshot {
  /// The first value of a key of META; nil if it is not there.
  public func metadata(_ key: String) -> String? {
    metadata.first { $0.key == key }?.value
  }

  /// Sets a key of META to one value, in place of those that it had.
  public mutating func setMetadata(_ key: String, _ value: String) {
    metadata.removeAll { $0.key == key }
    metadata.append(MetadataEntry(key: key, value: value))
  }

  /// A counter; 0 if it was not written.
  public func counter(_ key: String) -> UInt64 {
    counters.first { $0.key == key }?.value ?? 0
  }

  /// The return addresses of a stack, innermost first; empty for ``none``.
  public func addresses(ofStack index: Index) -> ArraySlice<UInt64> {
    guard index != Snapshot.none else { return [] }
    let stack = stacks[Int(index)]
    return frames[Int(stack.first)..<(Int(stack.first) + Int(stack.count))]
  }

  /// Every code address that a report needs a name for, as it is looked up (return addresses minus 1), ascending.
  public var lookupAddresses: [UInt64] {
    var seen = Set<UInt64>()
    for address in frames where address > 0 { seen.insert(address - 1) }
    for edge in edges where edge.function != 0 { seen.insert(edge.function) }
    return seen.sorted()
  }
}
