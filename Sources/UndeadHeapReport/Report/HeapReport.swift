import UndeadHeap
import UndeadReport

/// What `undead heap` shows; encodes to the JSON of `Documentation/heap-format.md`.
package struct HeapReport: Codable, Sendable, Equatable {
  /// Of the JSON; keys are only added within a version.
  package var schemaVersion = 1
  package var kind = "heap"
  package var tool: LeakReport.Tool
  package var process: LeakReport.Process
  /// When the heap was taken, in UTC, ISO 8601; empty if that is not known.
  package var takenAt: String
  package var summary: Summary
  /// The worst first, as all lists.
  package var types: [TypeRow]
  package var modules: [ModuleRow]
  package var sites: [SiteRow]
  package var roots: [RootRow]
  package var generations: [GenerationRow]
  /// The parts of the process's memory; their resident bytes add up to those of the summary.
  package var memory: [MemoryRow]
  /// Where the resident memory is, and what to do; nil where that is not known, or a type or address was asked for.
  package var verdict: MemoryVerdict?
  /// How many tasks there are, and which need a look: `undead tasks` has them. Nil without tasks.
  package var tasks: TaskReport.Summary?
  /// What is worth a look, the most bytes first; none where a type or address was asked for.
  package var findings: [HeapFinding] = []
  /// Open files, by number; nil where the file does not say which there were, or they were not asked for.
  package var descriptors: [DescriptorRow]?
  /// Likewise.
  package var threads: [ThreadRow]?
  /// Of the type or address that was asked for.
  package var detail: Detail?

  /// The numbers of the heap.
  package struct Summary: Codable, Sendable, Equatable {
    /// Blocks with a type.
    package var objects = 0
    package var objectBytes = 0
    /// Raw memory of Swift code, and memory of C code.
    package var rawBlocks = 0
    package var rawBytes = 0
    package var types = 0
    package var residentBytes = 0
    /// Free and overhead of malloc.
    package var mallocFreeBytes = 0
    package var pauseMilliseconds = 0.0
    /// To walk and write the graph.
    package var writeMilliseconds = 0.0
    package var fileBytes = 0
    package var complete = true
    package var notes: [String] = []
    /// Blocks that no root leads to, and their bytes.
    package var unreachableBlocks = 0
    package var unreachableBytes = 0
    /// One allocation was sampled for so many bytes, on average; nil if all backtraces were kept.
    package var sampleBytes: Int?
  }

  package struct TypeRow: Codable, Sendable, Hashable {
    package var type: String
    /// Of C memory: the library that allocated it.
    package var module: String?
    package var count: Int
    package var bytes: Int
    package var retainedBytes: Int
  }

  package struct ModuleRow: Codable, Sendable, Hashable {
    package var module: String
    package var count: Int
    package var bytes: Int
    package var retainedBytes: Int
  }

  package struct SiteRow: Codable, Sendable, Hashable {
    package var type: String
    /// Of C memory: the library that allocated it.
    package var module: String?
    package var count: Int
    package var bytes: Int
    package var retainedBytes: Int
    package var allocation: LeakReport.Backtrace
    /// Where allocations are sampled: `count` and `bytes` are estimates, and this says how good they are.
    package var estimate: SampleEstimate?
  }

  package struct RootRow: Codable, Sendable, Hashable {
    /// As in retain paths; `shared` for what several roots hold, `other` and `unreachable` for what none does.
    package var kind: String
    package var name: String
    package var retainedBytes: Int
    /// Blocks that would be freed with it.
    package var count: Int
  }

  package struct GenerationRow: Codable, Sendable, Hashable {
    package var number: Int
    package var name: String
    package var count: Int
    package var bytes: Int
    package var retainedBytes: Int
  }

  package struct MemoryRow: Codable, Sendable, Hashable {
    /// `liveBlocks`, `mallocFree`, `stacks`, `files`, `mapped`, `undead` or `other`.
    package var kind: String
    package var name: String
    package var residentBytes: Int
    package var reservedBytes: Int
  }

  /// A type, or a block, with who holds it.
  package struct Detail: Codable, Sendable, Equatable {
    /// Name of the type, or the pattern if it is that of several.
    package var type: String
    package var count: Int
    package var bytes: Int
    package var retainedBytes: Int
    /// A few, those that retain most first.
    package var instances: [Instance]
    package var referrers: [Referrer]
    package var references: [OutwardReference]
    /// Where the blocks were allocated.
    package var sites: [SiteRow]
    /// The shortest paths from roots, one of each shape.
    package var paths: [Path]
    /// The types, if there are several.
    package var types: [TypeRow]?
  }

  package struct Instance: Codable, Sendable, Equatable {
    package var type: String
    package var address: String
    package var size: Int
    package var retainedBytes: Int
    package var allocation: LeakReport.Backtrace
    package var retainPath: [LeakReport.PathStep]
    /// From the nearest one to the root: what would free the block if it went.
    package var dominators: [Dominator]
    /// How many strong references there are, and whose; nil if that is not known.
    package var references: LeakReport.ReferenceCount?
    /// Elements, of strings and Data bytes, that are in use, and for how many there is room.
    package var used: Int?
    package var capacity: Int?
  }

  package struct Dominator: Codable, Sendable, Hashable {
    /// Type of a block, or name of a root.
    package var type: String
    /// nil for a root.
    package var address: String?
    package var retainedBytes: Int
  }

  package struct Referrer: Codable, Sendable, Hashable {
    /// Type of the object, or kind and name of a root.
    package var type: String
    /// Empty for a root.
    package var field: String
    package var count: Int
    /// nil for references that keep the object alive, else `weak`, `borrowed`, `perhaps`.
    package var strength: String?
  }

  package struct OutwardReference: Codable, Sendable, Hashable {
    package var field: String
    package var type: String
    package var count: Int
    /// Shallow bytes of what is referred to, each block once.
    package var bytes: Int
    /// As in ``Referrer``.
    package var strength: String?
  }

  /// Blocks that are reached alike.
  package struct Path: Codable, Sendable, Equatable {
    package var count: Int
    /// The shortest of them.
    package var retainPath: [LeakReport.PathStep]
  }
}
