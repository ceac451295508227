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

extension Snapshot {
  /// The first value of a key of META; nil if it is not there.
  package func metadata(_ key: String) -> String? {
    metadata.first { $0.key == key }?.value
  }

  /// True if the process was copied and not recorded, so that nothing is known of the places of its allocations.
  package var isBare: Bool {
    metadata("recorded") != nil && metadata("recordedSince") == nil && nodes.allSatisfy { $0.stack == Snapshot.none }
  }

  /// Sets a key of META to one value, in place of those that it had.
  package mutating func setMetadata(_ key: String, _ value: String) {
    metadata.removeAll { $0.key == key }
    metadata.append(MetadataEntry(key: key, value: value))
  }

  /// A counter; 0 if it was not written.
  package func counter(_ key: String) -> UInt64 {
    counters.first { $0.key == key }?.value ?? 0
  }

  /// The return addresses of a stack, innermost first; empty for ``none``.
  package func addresses(ofStack index: Index) -> ArraySlice<UInt64> {
    guard index != Snapshot.none else { return [] }
    let stack = stacks[Int(index)]
    return frames[Int(stack.first)..<(Int(stack.first) + Int(stack.count))]
  }

  /// Every code address that a report needs a name for, as it is looked up (return addresses minus 1), ascending.
  package var lookupAddresses: [UInt64] {
    var seen = Set<UInt64>()
    // Most stacks share their frames, and there may be a million stacks: a set is slow for what was just added.
    var recent = [UInt64](repeating: 0, count: 1024)
    for address in frames where address > 0 {
      let slot = Int(truncatingIfNeeded: (address ^ (address >> 10)) & 1023)
      guard recent[slot] != address else { continue }
      recent[slot] = address
      seen.insert(address - 1)
    }
    return seen.union(functionValues).sorted()
  }

  /// The functions of closures.
  var functionValues: Set<UInt64> { Set(edges.lazy.map(\.function).filter { $0 != 0 }) }
}
