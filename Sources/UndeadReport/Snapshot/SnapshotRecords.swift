/// The records of a snapshot (`Documentation/snapshot-format.md`).
extension Snapshot {
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
    package var flags: UInt32 = 0

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
    package var stack: Index = Snapshot.none
    /// Stack that explains the node better, such as the async frames of a task.
    package var explanation: Index = Snapshot.none
    package var state: State = .leaked
    /// 1: listed for nothing but that it holds another one; 2, 4, 8: memory of no type, a global, a thread names it; 16: the
    /// counts decided that it leaked; 32, 64: a number, a place that may be out of use names it.
    package var flags: UInt32 = 0
    /// How often it is retained, 0 if that is not known, and at most 65535.
    package var strong: UInt16 = 0
    /// How many of these references are those of fields, elements and captures.
    package var counted: UInt16 = 0

    package init(
      address: UInt64, size: UInt64, type: Index, stack: Index = Snapshot.none, explanation: Index = Snapshot.none,
      state: State = .leaked, flags: UInt32 = 0, strong: UInt16 = 0, counted: UInt16 = 0
    ) {
      (self.address, self.size, self.type, self.stack) = (address, size, type, stack)
      (self.explanation, self.state, self.flags) = (explanation, state, flags)
      (self.strong, self.counted) = (strong, counted)
    }

    /// Of `flags`: words that may be references led to it, and the counts said that they are none.
    static let byCounts: UInt32 = 16

    /// True if it is there only to say who holds another one.
    package var isOnlyHolder: Bool { flags & 1 != 0 }
  }

  /// A pointer from one node to another.
  package struct Edge: Sendable, Equatable {
    package var from: Index
    package var to: Index
    /// Of the word in `from`, in bytes.
    package var offset: UInt32 = 0
    package var label: StringID = 0
    package var declaredType: StringID = 0
    /// 0 strong, 1 weak, 2 unowned, 3 unowned(unsafe).
    package var ownership: UInt32 = 0
    /// Exact address of the function of a closure value, 0 if it is none.
    package var function: UInt64 = 0
    /// 1: does not keep `to` alive; 2: implied, not a pointer in memory; 4: frames of a task to what others own; 8: the
    /// count of `to` includes it.
    package var flags: UInt32 = 0

    package init(
      from: Index, to: Index, offset: UInt32 = 0, label: StringID = 0, declaredType: StringID = 0,
      ownership: UInt32 = 0, function: UInt64 = 0, flags: UInt32 = 0
    ) {
      (self.from, self.to, self.offset, self.label) = (from, to, offset, label)
      (self.declaredType, self.ownership, self.function, self.flags) = (declaredType, ownership, function, flags)
    }

    /// True if it keeps `to` alive.
    package var isStrong: Bool { flags & 5 == 0 }
    /// True for a weak or unowned field.
    package var isWeak: Bool { flags & 1 != 0 }
    /// True if the reference count of `to` includes it.
    package var isCounted: Bool { flags & 15 == 8 }
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
    package var rootName: StringID = 0
    package var rootAddress: UInt64 = 0
    package var thread: UInt32 = 0
    package var firstNode: Index
    package var firstStep: UInt32 = 0
    package var stepCount: UInt32 = 0
    package var endNode: Index

    package init(
      rootKind: UInt32, rootName: StringID = 0, rootAddress: UInt64 = 0, thread: UInt32 = 0, firstNode: Index,
      firstStep: UInt32 = 0, stepCount: UInt32 = 0, endNode: Index
    ) {
      (self.rootKind, self.rootName, self.rootAddress, self.thread) = (rootKind, rootName, rootAddress, thread)
      (self.firstNode, self.firstStep, self.stepCount, self.endNode) = (firstNode, firstStep, stepCount, endNode)
    }
  }

  /// Whose the references are to the node that a thread's word holds.
  package struct OwnerRecord: Sendable, Equatable {
    package var path: Index
    /// Strong references to the first node of the path.
    package var strong: UInt32
    /// Those that fields, elements and captures account for.
    package var counted: UInt32
    /// 1: others than the thread may own the rest.
    package var flags: UInt32 = 0
  }

  /// A field of the type of an object that a suspect knows weakly, and that is deallocated.
  package struct OwnerField: Sendable, Hashable {
    package var node: Index
    /// The type of the object.
    package var owner: StringID
    /// Empty for the type alone.
    package var field: StringID
    package var type: StringID
  }

  /// An object that only something that fires or waits holds, and that holds that thing itself; or a block of a set that
  /// nobody owns, but that a thread's frame names.
  package struct SuspectRecord: Sendable, Equatable {
    /// 1 timer, 2 dispatch source, 3 observer, 4 task, 5 frame, 6 and 7 what a task or timer does for a deallocated owner, 8 outlived (only in files); moreover 16 if it is no suspect (`Snapshot.keptAlone`).
    package var kind: UInt32
    package var node: Index
    package var mechanism: Index
    package var path: Index = Snapshot.none

    package static let alone: UInt32 = 16

    /// True for a block of a set that only a thread's frame names.
    package var isOfFrame: Bool { kind == 5 }
    /// True for a block of a set with a watched object that nobody owns, whatever word names it.
    var isOutlived: Bool { kind == 8 }
    /// True for a closure of a task in a loop that knows weakly only what is gone; the task is the mechanism.
    package var isTaskOfDeadOwner: Bool { kind == 6 }
  }

  /// An object that outlived its owner scope.
  package struct WatchedRecord: Sendable, Equatable {
    package var node: Index
    /// Name of the scope.
    package var scope: StringID
    /// Where the scope ended.
    package var stack: Index = Snapshot.none
    /// How the object is reached; none if nothing reaches it.
    package var path: Index = Snapshot.none
    package var flags: UInt32 = 0
  }

  /// A timer, display link or source that a run loop holds.
  package struct LoopItem: Sendable, Equatable {
    package var address: UInt64
    package var node: Index
    package var loop: StringID
    package var modes: StringID
    package var kind: StringID
    package var name: StringID
  }

  /// A block that an earlier check called a leak, and that turned out to be none.
  package struct RefutedRecord: Sendable, Equatable {
    package var address: UInt64
    package var size: UInt64
    /// 1 freed, 2 gone, 3 reached, 4 named by a thread, 5 counted.
    package var how: UInt32
    package var type: StringID
    package var allocation: Index = Snapshot.none
    /// Where it was freed.
    package var end: Index = Snapshot.none
    /// Numbers of checks.
    package var calledBy: UInt32 = 0
    package var refutedBy: UInt32 = 0
    /// Flags of its node: why the check was certain.
    package var why: UInt32 = 0
    /// 1: a weak or unowned reference may have brought it back.
    package var flags: UInt32 = 0
    package var strong: UInt32 = 0
    package var counted: UInt32 = 0
    package var path: StringID = 0
  }

  /// Something that is no leak but deserves a look.
  package struct DiagnosticRecord: Sendable, Equatable {
    package var kind: StringID
    package var message: StringID
    /// A JSON object with string values; may be empty.
    package var details: StringID = 0
    package var stack: Index = Snapshot.none
  }

  /// A further backtrace of a diagnostic.
  package struct TraceRecord: Sendable, Equatable {
    package var diagnostic: Index
    package var role: StringID
    package var stack: Index
  }
}
