/// What the instrument wrote about one process at one moment; `Documentation/snapshot-format.md` describes the file.
///
/// A plain value: indices were checked when it was decoded, so the analysis needs no further checks.
public struct LeakSnapshot: Sendable, Equatable {
  /// Position of an entry in another section; ``none`` where there is none.
  package typealias Index = UInt32
  /// The index that means "none".
  package static let none: Index = .max
  /// The newest format version that this code reads, and the one that it writes.
  package static let formatVersion: UInt32 = 1

  /// True if the instrument could look at everything.
  public var isComplete = true
  package var strings = StringTable()
  package var metadata: [MetadataEntry] = []
  package var counters: [Counter] = []
  /// What was mapped, in no particular order.
  package var modules: [Module] = []
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
  /// Objects that one thing alone keeps that fires or waits, and that have no field for it.
  package var keptAlone: [SuspectRecord] = []
  package var owners: [OwnerRecord] = []
  /// Of suspects of kinds 6, 7 and 9: what the types of the deallocated owners have.
  package var ownerFields: [OwnerField] = []
  package var notes: [StringID] = []
  package var watched: [WatchedRecord] = []
  package var loopItems: [LoopItem] = []
  package var diagnostics: [DiagnosticRecord] = []
  package var traces: [TraceRecord] = []
  /// What earlier checks of the process called leaks, and what turned out to be none.
  package var refuted: [RefutedRecord] = []
  /// The state of all run loops as JSON; empty if there are none.
  package var runLoops: [UInt8] = []
  /// Uses of dead objects that were seen in the program and its children.
  package var zombies = ZombieFindings()
  /// Names that were saved with the snapshot.
  package var symbols = SymbolTable()

  /// Makes an empty snapshot.
  package init() {}

  /// Path of the process's executable; empty if it is not known.
  package var executablePath: String { metadata("path") ?? "" }

  /// Leaves only what is known of the process as a whole.
  package mutating func removeFindings() {
    (nodes, edges, paths, steps, suspects, owners) = ([], [], [], [], [], [])
    (keptAlone, ownerFields) = ([], [])
    (watched, loopItems, diagnostics, traces, runLoops, refuted) = ([], [], [], [], [], [])
    counters.removeAll { $0.key.hasPrefix("unreachableC") || $0.key.hasPrefix("dropped") }
  }

  /// An executable or library, mapped at [low, high).
  package struct Module: Sendable, Equatable {
    /// First address.
    package var low: UInt64
    /// Address after the last one.
    package var high: UInt64
    /// What is added to an address of the file to get the address in memory.
    package var bias: UInt64
    /// Path of the file.
    package var path: String
    /// Hexadecimal build id of the file; empty if it has none.
    package var buildID: String
    /// 1: of the toolchain or the system.
    package var flags: UInt32

    /// Makes a module; see the properties for the meaning of each part.
    package init(low: UInt64, high: UInt64, bias: UInt64, path: String, buildID: String = "", flags: UInt32 = 0) {
      self.low = low
      self.high = high
      self.bias = bias
      self.path = path
      self.buildID = buildID
      self.flags = flags
    }

    /// True for the toolchain's and the system's own.
    package var isSystem: Bool { flags & 1 != 0 }
  }
}
