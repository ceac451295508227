import UndeadReport

/// What `undead heap` tells; encodes to the JSON of `Documentation/heap-format.md`.
public struct HeapReport: Codable, Sendable, Equatable {
  /// Of the JSON; keys are only added within a version.
  public var schemaVersion = 1
  public var kind = "heap"
  public var tool: LeakReport.Tool
  public var process: LeakReport.Process
  /// When the heap was taken, in UTC, ISO 8601; empty if that is not known.
  public var takenAt: String
  public var summary: Summary
  /// The worst first, as all lists.
  public var types: [TypeRow]
  public var modules: [ModuleRow]
  public var sites: [SiteRow]
  public var roots: [RootRow]
  public var generations: [GenerationRow]
  /// The parts of the process's memory; their resident bytes add up to those of the summary.
  public var memory: [MemoryRow]
  /// What is worth a look, the most bytes first; none where a type or address was asked for.
  public var findings: [HeapFinding] = []
  /// Of the type or address that was asked for.
  public var detail: Detail?

  /// The numbers of the heap.
  public struct Summary: Codable, Sendable, Equatable {
    /// Blocks with a type.
    public var objects = 0
    public var objectBytes = 0
    /// Raw memory of Swift code, and memory of C code.
    public var rawBlocks = 0
    public var rawBytes = 0
    public var types = 0
    public var residentBytes = 0
    /// Free and overhead of malloc.
    public var mallocFreeBytes = 0
    public var pauseMilliseconds = 0.0
    /// To walk and write the graph.
    public var writeMilliseconds = 0.0
    public var fileBytes = 0
    public var complete = true
    public var notes: [String] = []
    /// Blocks that no root leads to, and their bytes.
    public var unreachableBlocks = 0
    public var unreachableBytes = 0
    /// One allocation was sampled for so many bytes, on average; nil if all backtraces were kept.
    public var sampleBytes: Int?
  }

  public struct TypeRow: Codable, Sendable, Hashable {
    public var type: String
    /// Of C memory: the library that allocated it.
    public var module: String?
    public var count: Int
    public var bytes: Int
    public var retainedBytes: Int
  }

  public struct ModuleRow: Codable, Sendable, Hashable {
    public var module: String
    public var count: Int
    public var bytes: Int
    public var retainedBytes: Int
  }

  public struct SiteRow: Codable, Sendable, Hashable {
    public var type: String
    /// Of C memory: the library that allocated it.
    public var module: String?
    public var count: Int
    public var bytes: Int
    public var retainedBytes: Int
    public var allocation: LeakReport.Backtrace
    /// Where allocations are sampled: `count` and `bytes` are estimates, and this tells how good they are.
    public var estimate: SampleEstimate?
  }

  public struct RootRow: Codable, Sendable, Hashable {
    /// As in retain paths; `shared` for what several roots hold, `other` and `unreachable` for what none does.
    public var kind: String
    public var name: String
    public var retainedBytes: Int
    /// Blocks that would be freed with it.
    public var count: Int
  }

  public struct GenerationRow: Codable, Sendable, Hashable {
    public var number: Int
    public var name: String
    public var count: Int
    public var bytes: Int
    public var retainedBytes: Int
  }

  public struct MemoryRow: Codable, Sendable, Hashable {
    /// `liveBlocks`, `mallocFree`, `stacks`, `files`, `mapped`, `undead` or `other`.
    public var kind: String
    public var name: String
    public var residentBytes: Int
    public var reservedBytes: Int
  }

  /// A type, or a block, with who holds it.
  public struct Detail: Codable, Sendable, Equatable {
    /// Name of the type, or the pattern if it is that of several.
    public var type: String
    public var count: Int
    public var bytes: Int
    public var retainedBytes: Int
    /// A few, those that retain most first.
    public var instances: [Instance]
    public var referrers: [Referrer]
    public var references: [OutwardReference]
    /// Where the blocks were allocated.
    public var sites: [SiteRow]
    /// The shortest paths from roots, one of each shape.
    public var paths: [Path]
    /// The types, if there are several.
    public var types: [TypeRow]?
  }

  public struct Instance: Codable, Sendable, Equatable {
    public var type: String
    public var address: String
    public var size: Int
    public var retainedBytes: Int
    public var allocation: LeakReport.Backtrace
    public var retainPath: [LeakReport.PathStep]
    /// From the nearest one to the root: what would free the block if it went.
    public var dominators: [Dominator]
    /// How many strong references there are, and whose; nil if that is not known.
    public var references: LeakReport.ReferenceCount?
    /// Elements, of strings and Data bytes, that are in use, and for how many there is room.
    public var used: Int?
    public var capacity: Int?
  }

  public struct Dominator: Codable, Sendable, Hashable {
    /// Type of a block, or name of a root.
    public var type: String
    /// nil for a root.
    public var address: String?
    public var retainedBytes: Int
  }

  public struct Referrer: Codable, Sendable, Hashable {
    /// Type of the object, or kind and name of a root.
    public var type: String
    /// Empty for a root.
    public var field: String
    public var count: Int
    /// nil for references that keep the object alive, else `weak`, `borrowed`, `perhaps`.
    public var strength: String?
  }

  public struct OutwardReference: Codable, Sendable, Hashable {
    public var field: String
    public var type: String
    public var count: Int
    /// Shallow bytes of what is referred to, each block once.
    public var bytes: Int
    /// As in ``Referrer``.
    public var strength: String?
  }

  /// Blocks that are reached alike.
  public struct Path: Codable, Sendable, Equatable {
    public var count: Int
    /// The shortest of them.
    public var retainPath: [LeakReport.PathStep]
  }
}
