import UndeadReport

/// The records of a heap file (`Documentation/heap-format.md`).
extension HeapFile {
  /// What blocks that look alike have in common.
  package struct Shape: Sendable, Equatable {
    /// Index of TYPES; none for memory without a known type.
    package var type: Snapshot.Index
    package var flags: UInt32
    /// Usable bytes.
    package var size: UInt64

    /// Reached from a root; else leaked, or unreachable memory of C code.
    package static let reached: UInt32 = 1
    package static let hasStrongCount: UInt32 = 2
    package static let hasUse: UInt32 = 4
    package static let hasHash: UInt32 = 8
    /// Its deinit has run; unowned references keep the block.
    package static let isDead: UInt32 = 16
    /// No strong count is known: memory of C code, or an immortal object.
    package static let countUnknown: UInt32 = 32

    package func has(_ flag: UInt32) -> Bool { flags & flag != 0 }
  }

  /// Where and when blocks were allocated.
  package struct Site: Sendable, Equatable {
    /// Index of STACKS; none if it was not recorded.
    package var stack: Snapshot.Index
    package var generation: UInt32
    package var flags: UInt32
    /// Of a sample: one for so many bytes, on average; 0 for sites that are none.
    package var sampleMean: UInt32

    package init(stack: Snapshot.Index, generation: UInt32 = 0, flags: UInt32 = 0, sampleMean: UInt32 = 0) {
      self.stack = stack
      self.generation = generation
      self.flags = flags
      self.sampleMean = sampleMean
    }

    /// Its blocks were sampled, and stand for others that were not.
    package var isSampled: Bool { flags & 2 != 0 }

    /// Blocks without a type that were allocated here are raw memory of Swift code, else memory of C code.
    package var isRaw: Bool { flags & 1 != 0 }
  }

  /// What a place has allocated since the start, freed blocks too, as far as a sample shows.
  package struct Allocations: Sendable, Equatable {
    /// Index of STACKS; none for places that were thrown away.
    package var stack: Snapshot.Index
    package var samples: UInt64
    package var objects: UInt64
    package var bytes: UInt64
    package var sampledBytes: UInt64

    package init(stack: Snapshot.Index, samples: UInt64, objects: UInt64, bytes: UInt64, sampledBytes: UInt64) {
      self.stack = stack
      self.samples = samples
      self.objects = objects
      self.bytes = bytes
      self.sampledBytes = sampledBytes
    }

    package var estimate: SampleEstimate {
      SampleEstimate(samples: Int(clamping: samples), count: Double(objects), bytes: Double(bytes))
    }
  }

  /// Where tasks of a shape wait.
  package struct Wait: Sendable, Equatable {
    /// Index of HEAP SHAPES.
    package var shape: UInt32
    /// Index of STACKS of their async frames; none if there are none.
    package var stack: Snapshot.Index
    /// What they do, see ``TaskState``.
    package var status: UInt32

    package init(shape: UInt32, stack: Snapshot.Index, status: UInt32 = 0) {
      self.shape = shape
      self.stack = stack
      self.status = status
    }
  }

  /// A task as the runtime's own records have it.
  package struct Task: Sendable, Equatable {
    package typealias Dependency = TaskState.Dependency

    package var address: UInt64
    /// The task that it is part of; 0 if there is none.
    package var parent: UInt64
    /// The group that it is in; 0 if there is none.
    package var group: UInt64
    /// What it waits for, see `dependency`.
    package var waitsFor: UInt64
    package var id: UInt32
    package var name: StringID
    package var stack: Snapshot.Index
    package var status: UInt32
    package var dependency: Dependency
    package var priority: UInt8
    package var flags: UInt16

    package static let asyncLet: UInt16 = 1
    /// Somebody is called when it is cancelled.
    package static let cancelHandler: UInt16 = 2
    /// No task, but a timer of libdispatch: `waitsFor` is nanoseconds until it fires.
    package static let timer: UInt16 = 16
    /// It comes to where it waits again.
    package static let loops: UInt16 = 8

    package init(
      address: UInt64, parent: UInt64 = 0, group: UInt64 = 0, waitsFor: UInt64 = 0, id: UInt32 = 0, name: StringID = 0,
      stack: Snapshot.Index = Snapshot.none, status: UInt32 = 0, dependency: Dependency = .unknown, priority: UInt8 = 0,
      flags: UInt16 = 0
    ) {
      self.address = address
      self.parent = parent
      self.group = group
      self.waitsFor = waitsFor
      self.id = id
      self.name = name
      self.stack = stack
      self.status = status
      self.dependency = dependency
      self.priority = priority
      self.flags = flags
    }

    package func has(_ flag: UInt16) -> Bool { flags & flag != 0 }

    package var isTask: Bool { flags & Self.timer == 0 }
  }

  /// A block of memory of a task, beside the one that it lies in.
  package struct TaskMemory: Sendable, BitwiseCopyable {
    /// Address of the task.
    package var task: UInt64
    /// Rank of the memory; not checked.
    package var block: UInt32
    /// Rank of the block that the task lies in; not checked.
    package var taskBlock: UInt32

    package init(task: UInt64, block: UInt32, taskBlock: UInt32) {
      (self.task, self.block, self.taskBlock) = (task, block, taskBlock)
    }
  }

  /// What a reference is worth to what it refers to.
  package enum Strength {
    /// A counted strong reference.
    package static let counted: UInt32 = 0
    /// A word of memory that nothing is known of: keeps alive if the counts leave room for it.
    package static let raw: UInt32 = 1
    /// Weak, unowned or dead: holds nothing.
    package static let none: UInt32 = 2
    /// The frame of a suspended task, the tail of a managed buffer.
    package static let perhaps: UInt32 = 3
    package static let number: UInt32 = 4
  }

  /// A field, element or capture of a type that refers to blocks.
  package struct Place: Sendable, Equatable {
    /// Index of TYPES of what holds the reference; none for memory without a type.
    package var holder: Snapshot.Index
    /// Bytes from the start of the holder; of an element, within the element.
    package var offset: UInt32
    package var label: StringID
    package var declaredType: StringID
    package var strength: UInt32
    package var flags: UInt32
    /// Function of a closure; 0 if there is none.
    package var function: UInt64

    package init(
      holder: Snapshot.Index, offset: UInt32 = 0, label: StringID = 0, declaredType: StringID = 0,
      strength: UInt32 = Strength.counted, flags: UInt32 = 0, function: UInt64 = 0
    ) {
      self.holder = holder
      self.offset = offset
      self.label = label
      self.declaredType = declaredType
      self.strength = strength
      self.flags = flags
      self.function = function
    }

    package var isElement: Bool { flags & 1 != 0 }
    /// Words around the reference follow in the stream.
    package var hasNeighbours: Bool { flags & 2 != 0 }
    /// Unowned, and not weak.
    package var isUnowned: Bool { flags & 8 != 0 }
    /// No word in memory, but known from the runtime: an object and its side table.
    package var isImplied: Bool { flags & 4 != 0 }
  }

  /// Something that holds blocks and is none itself.
  package struct Root: Sendable, Equatable {
    /// As in PATHS; 6 for memory from before recording.
    package var kind: UInt32
    package var name: StringID
    package var address: UInt64
    package var thread: UInt32
    package var flags: UInt32

    package init(kind: UInt32, name: StringID = 0, address: UInt64 = 0, thread: UInt32 = 0, flags: UInt32 = 0) {
      self.kind = kind
      self.name = name
      self.address = address
      self.thread = thread
      self.flags = flags
    }

    package static let global: UInt32 = 1
    package static let stack: UInt32 = 2
    package static let threadLocal: UInt32 = 3
    package static let register: UInt32 = 4
    package static let runLoop: UInt32 = 5
    package static let beforeRecording: UInt32 = 6
    /// Tasks that wait at one place; in no file, but made of its waits.
    package static let task: UInt32 = 7

    /// Weak or doubtful: alone it keeps nothing alive.
    package var isWeak: Bool { flags & 1 != 0 }
    /// Memory that is no variable of an image.
    package var isMapped: Bool { flags & 2 != 0 }
    /// A variable of what resumes tasks, which does not own them.
    package var isOfRuntime: Bool { flags & 4 != 0 }
    /// Bytes from the start of the variable to the word; nil where that is not known.
    package var offsetInVariable: Int? { flags >> 16 == 0 ? nil : Int(flags >> 16) - 1 }
  }

  /// What stands around a reference from outside of all blocks, which may be a slice: as Neighbours of a reference.
  package struct RootWords: Sendable, Equatable {
    /// Position among the references of roots.
    package var edge: UInt64
    package var words: [UInt64]

    package static let count = 7
  }

  /// In whose frames a word of a stack lies.
  package struct StackWord: Sendable, Equatable {
    /// Position among the references of roots.
    package var edge: UInt64
    /// Index of STACKS: the frame with the word, and those around it.
    package var frames: Snapshot.Index
  }

  /// A word that names a task of `async let`, which lies in the memory of another task.
  package struct InnerWord: Sendable, Equatable {
    /// Rank in address order of the block with the word, or ``ofRoot`` and a position among the references of roots; not checked.
    package var from: UInt64
    /// Address of the task.
    package var task: UInt64

    package static let ofRoot: UInt64 = 1 << 63
  }

  /// A field that has the number of what may be an open file.
  package struct DescriptorHolder: Sendable, Equatable {
    /// Rank in address order; not checked.
    package var block: UInt32
    package var descriptor: UInt32
    /// Name of the field, or what has the number if it is a record of libdispatch.
    package var field: StringID
    /// Of the number in the block.
    package var offset: UInt32
  }

  /// The stack of a thread.
  package struct ThreadStack: Sendable, Equatable {
    package var thread: UInt32
    /// Index of STACKS: what it was doing; none if that is not known.
    package var frames: Snapshot.Index
    package var resident: UInt64
    package var reserved: UInt64
  }

  /// A part of the process's memory.
  package struct MemoryLine: Sendable, Equatable {
    package var name: StringID
    package var kind: UInt32
    package var resident: UInt64
    package var reserved: UInt64

    package init(name: StringID, kind: UInt32, resident: UInt64, reserved: UInt64) {
      self.name = name
      self.kind = kind
      self.resident = resident
      self.reserved = reserved
    }

    package static let liveBlocks: UInt32 = 1
    package static let mallocFree: UInt32 = 2
    package static let stacks: UInt32 = 3
    package static let files: UInt32 = 4
    package static let mapped: UInt32 = 5
    package static let own: UInt32 = 6

    /// Each in JSON, and in words; 7 is what is none of these.
    private static let kinds = [
      liveBlocks: ("liveBlocks", "live blocks"), mallocFree: ("mallocFree", "free in malloc"),
      stacks: ("stacks", "stacks of threads"), files: ("files", "code and files"),
      mapped: ("mapped", "mapped by the program"), own: ("undead", "Undead itself"),
    ]

    package static func name(of kind: UInt32) -> String { kinds[kind]?.0 ?? "other" }
    package static func words(for kind: UInt32) -> String { kinds[kind]?.1 ?? "other" }
  }

  /// A stretch of glibc's malloc: a part of an arena, or what is known of one.
  package struct MallocPart: Sendable, Equatable {
    package var low: UInt64
    package var high: UInt64
    package var kind: UInt64

    package init(low: UInt64, high: UInt64, kind: UInt64) {
      self.low = low
      self.high = high
      self.kind = kind
    }

    /// Chunks of the main arena, and of another one.
    package static let main: UInt64 = 1
    package static let other: UInt64 = 2
    /// The end of an arena, which was never handed out or came back.
    package static let top: UInt64 = 3
    /// A chunk that a thread keeps: free, but in use for its neighbours.
    package static let kept: UInt64 = 4
    /// Pages that are there.
    package static let pages: UInt64 = 5
  }

  /// A mark: blocks born after it, and before the next one, are of its generation.
  package struct Generation: Sendable, Equatable {
    package var number: UInt32
    package var name: StringID
    /// Nanoseconds since 1970.
    package var time: UInt64

    package init(number: UInt32, name: StringID, time: UInt64) {
      self.number = number
      self.name = name
      self.time = time
    }
  }

  /// How much of a type there was when a census was taken.
  package struct CensusLine: Sendable, Equatable {
    package var type: Snapshot.Index
    package var count: UInt64
    package var bytes: UInt64
  }
}
