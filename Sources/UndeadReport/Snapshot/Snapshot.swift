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

  public var isComplete = true
  public var strings = StringTable()
  public var metadata: [MetadataEntry] = []
  public var counters: [Counter] = []
  public var modules: [Module] = []
  public var types: [TypeRecord] = []
  public var nodes: [Node] = []
  /// Sorted by `from`, then by `offset`.
  public var edges: [Edge] = []
  public var stacks: [Stack] = []
  /// Return addresses.
  public var frames: [UInt64] = []
  public var paths: [Path] = []
  /// Indices of edges.
  public var steps: [Index] = []
  public var suspects: [SuspectRecord] = []
  public var notes: [StringID] = []
  public var symbols = SymbolTable()

  /// Makes an empty snapshot.
  public init() {}

  /// A key of META and its value; `argument` occurs once for each argument, in order.
  public struct MetadataEntry: Sendable, Equatable {
    public var key: String
    public var value: String

    public init(key: String, value: String) {
      self.key = key
      self.value = value
    }
  }

  /// A number that the instrument counted.
  public struct Counter: Sendable, Equatable {
    public var key: String
    public var value: UInt64

    public init(key: String, value: UInt64) {
      self.key = key
      self.value = value
    }
  }

  /// An executable or library, mapped at [low, high).
  public struct Module: Sendable, Equatable {
    public var low: UInt64
    public var high: UInt64
    /// What is added to an address of the file to get the address in memory.
    public var bias: UInt64
    public var path: String
    public var buildID: String
    /// 1: of the toolchain or the system.
    public var flags: UInt32

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
  public struct Kind: RawRepresentable, Sendable, Hashable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    public static let other = Kind(rawValue: 0)
    public static let object = Kind(rawValue: 1)
    public static let context = Kind(rawValue: 2)
    public static let genericBox = Kind(rawValue: 3)
    public static let errorBox = Kind(rawValue: 4)
    public static let task = Kind(rawValue: 5)
    public static let job = Kind(rawValue: 6)
    public static let sideTable = Kind(rawValue: 7)
  }

  /// A type by its isa, with its module-qualified name.
  public struct TypeRecord: Sendable, Equatable {
    public var isa: UInt64
    public var name: StringID
    public var kind: Kind
    /// 1: a type of the program, not of the toolchain.
    public var flags: UInt32

    public init(isa: UInt64, name: StringID, kind: Kind, flags: UInt32 = 0) {
      self.isa = isa
      self.name = name
      self.kind = kind
      self.flags = flags
    }

    /// True for a type that the program declares.
    public var isOfProgram: Bool { flags & 1 != 0 }
  }

  /// What the scan found out about a block.
  public struct State: RawRepresentable, Sendable, Hashable {
    public var rawValue: UInt32

    public init(rawValue: UInt32) {
      self.rawValue = rawValue
    }

    public static let leaked = State(rawValue: 1)
    public static let raw = State(rawValue: 2)
    public static let support = State(rawValue: 3)
    public static let suspect = State(rawValue: 4)
    public static let live = State(rawValue: 5)
  }

  /// A block: a Swift object, raw memory, or a block of C code.
  public struct Node: Sendable, Equatable {
    public var address: UInt64
    /// Usable bytes.
    public var size: UInt64
    public var type: Index
    /// Stack of the allocation.
    public var stack: Index
    /// Stack that explains the node better, such as the async frames of a task.
    public var explanation: Index
    public var state: State
    public var flags: UInt32

    public init(
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
  public struct Edge: Sendable, Equatable {
    public var from: Index
    public var to: Index
    /// Of the word in `from`, in bytes.
    public var offset: UInt32
    public var label: StringID
    public var declaredType: StringID
    /// 0 strong, 1 weak, 2 unowned, 3 unowned(unsafe).
    public var ownership: UInt32
    /// Exact address of the function of a closure value, 0 if it is none.
    public var function: UInt64
    /// 1: does not keep `to` alive; 2: implied, not a pointer in memory.
    public var flags: UInt32

    public init(
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
    public var isStrong: Bool { flags & 1 == 0 }
  }

  /// A range of `frames`, innermost first.
  public struct Stack: Sendable, Equatable {
    public var first: UInt32
    public var count: UInt32

    public init(first: UInt32, count: UInt32) {
      self.first = first
      self.count = count
    }
  }

  /// A retain path: a root, the node that it holds, then edges to the node at its end.
  public struct Path: Sendable, Equatable {
    /// 1 global, 2 stack, 3 thread local, 4 register, 5 run loop.
    public var rootKind: UInt32
    public var rootName: StringID
    public var rootAddress: UInt64
    public var thread: UInt32
    public var firstNode: Index
    public var firstStep: UInt32
    public var stepCount: UInt32
    public var endNode: Index

    public init(
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
  public struct SuspectRecord: Sendable, Equatable {
    /// 1 timer, 2 dispatch source, 3 observer, 4 task.
    public var kind: UInt32
    public var node: Index
    public var mechanism: Index
    public var path: Index

    public init(kind: UInt32, node: Index, mechanism: Index, path: Index = Snapshot.none) {
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
