/// What the zombie sniffer wrote about one process; `ZombieLogDecoder` reads the file.
///
/// A plain value: everything in it was checked when it was decoded.
public struct ZombieLog: Sendable, Equatable {
  /// The newest version of the file that this code reads.
  package static let formatVersion: UInt32 = 1

  /// Number of the process.
  package var pid: Int32
  /// Counts the programs that the process has been, from 1.
  package var generation: UInt32
  /// 1: the policy is trap; 2: guard pages; 4: Swift's functions could not be replaced; 8: sampled.
  package var flags: UInt32
  /// Number of the last signal that a zombie was about to cause; 0 for none.
  package var signal: UInt32
  /// Places that are not in the file because it was full.
  package var lost: UInt64
  /// What the sniffer counted.
  package var counters = Counters()
  /// The uses of dead objects, one for each place, in the order in which they were first seen.
  package var events: [Event] = []
  /// What was mapped at different times; see ``Event/modules``.
  package var moduleLists: [[LeakSnapshot.Module]] = []

  /// Makes a log without events.
  package init(pid: Int32, generation: UInt32 = 1, flags: UInt32 = 0, signal: UInt32 = 0, lost: UInt64 = 0) {
    self.pid = pid
    self.generation = generation
    self.flags = flags
    self.signal = signal
    self.lost = lost
  }

  /// True if objects were put on guard pages.
  package var isGuarding: Bool { flags & 2 != 0 }
  /// True if only a sample of the objects was looked at.
  package var isSampled: Bool { flags & 8 != 0 }
  /// True if the runtime is part of the program, so that its functions could not be replaced.
  package var isStaticRuntime: Bool { flags & 4 != 0 }

  /// The sniffer's counters, by their names in `undead_zombie_counters`.
  package struct Counters: Sendable, Equatable {
    /// In the order of the file.
    static let names = [
      "kept", "keptBytes", "deaths", "evictedForBytes", "evictedForCount", "evictedForAge", "evictedForEnd",
      "heldWhenEvicted", "denied", "missed", "types", "guarded", "guardedNow", "notGuarded", "zombies", "reports",
      "lostReports",
    ]

    private var values: [String: UInt64] = [:]

    /// Makes counters that are all 0.
    package init() {}

    /// A counter; 0 if there is none of that name.
    package subscript(name: String) -> UInt64 {
      get { values[name] ?? 0 }
      set { values[name] = newValue }
    }
  }

  /// The uses of one dead object's type at one place.
  public struct Event: Sendable, Equatable {
    /// As in the file: 1 method, 2 release, 3 retain, 4 field, 5 unowned, 6 cast, 7 closure, 8 timer target,
    /// 9 overflow.
    package var kind: UInt32
    /// 1 write, 2 class method, 4 async method, 8 evicted, 16 guard page, 32 sampled, 64 race.
    package var flags: UInt32 = 0
    /// 0 method, 1 initialiser, 2 getter, 3 setter, 4 modify, 5 read.
    package var accessor: UInt32 = 0
    /// Offset of the field in the object, in bytes; nil if it is not known.
    package var fieldOffset: UInt32?
    /// Address of the object.
    package var object: UInt64
    /// Address of the function that would have run; 0 if it is not known.
    package var implementation: UInt64 = 0
    /// Nanoseconds since 1970.
    package var accessTime: UInt64 = 0
    /// Nanoseconds since 1970; 0 if it is not known.
    package var deathTime: UInt64 = 0
    /// Uses of this kind and type at this place.
    public var count: UInt64 = 1
    /// The kernel's number of the thread of the use.
    package var thread: Int32 = 0
    /// The kernel's number of the thread of the death.
    package var deathThread: Int32 = 0
    /// Module-qualified type name.
    public var type: String
    /// Name of the field; empty if it is not known.
    public var field = ""
    /// As the kernel knows it.
    package var threadName = ""
    /// As the kernel knows it.
    package var deathThreadName = ""
    /// A sentence; may be empty.
    package var details = ""
    /// Return addresses, innermost first.
    package var allocation: [UInt64] = []
    /// Return addresses, innermost first.
    package var deallocation: [UInt64] = []
    /// Return addresses, innermost first.
    package var access: [UInt64] = []
    /// Index of the list in ``ZombieLog/moduleLists`` that was valid then; nil if there is none.
    package var modules: Int?

    /// Makes an event; see the properties for the meaning of each part.
    package init(kind: UInt32, object: UInt64, type: String) {
      self.kind = kind
      self.object = object
      self.type = type
    }
  }
}
