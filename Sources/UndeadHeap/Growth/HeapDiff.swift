import UndeadReport

/// What grew between two heap files.
public struct HeapDiff: Codable, Sendable, Equatable {
  /// How many blocks, and their bytes.
  public struct Amount: Codable, Sendable, Hashable {
    public var count: Int
    public var bytes: Int

    public init(count: Int = 0, bytes: Int = 0) {
      self.count = count
      self.bytes = bytes
    }
  }

  /// One of the two files.
  public struct Moment: Codable, Sendable, Equatable {
    /// The process as it was then.
    public var process: LeakReport.Process
    /// Number of the newest generation.
    public var generation: Int
    /// All blocks.
    public var blocks: Amount
    /// Resident memory of the process; 0 if it is not known.
    public var residentBytes: Int
  }

  /// What came and went; only where both files are of one process.
  public struct Turnover: Codable, Sendable, Hashable {
    /// Blocks of the new file that the old one does not have.
    public var came: Int
    /// Blocks of the old file that the new one does not have.
    public var went: Int
  }

  /// Blocks that one function of the program allocated.
  public struct Site: Codable, Sendable, Equatable {
    public var before: Amount
    public var after: Amount
    /// The backtrace of most of them.
    public var allocation: LeakReport.Backtrace
    /// Where allocations are sampled, the amounts are estimates: in 19 of 20 cases the growth is so near to it.
    public var margin: Amount?
  }

  /// Objects of a type in one container.
  public struct Container: Codable, Sendable, Equatable {
    /// Type of the object that has the field, or the root.
    public var type: String
    /// The field; empty for a root.
    public var field: String
    /// How many more objects there are in it.
    public var count: Int
    public var before: Amount
    public var after: Amount
    /// The shortest way from a root to one of the new objects.
    public var retainPath: [LeakReport.PathStep]
  }

  /// A type that changed.
  public struct TypeChange: Codable, Sendable, Equatable {
    /// Module-qualified name.
    public var type: String
    /// Of `C memory`: the library that allocated it.
    public var module: String?
    public var before: Amount
    public var after: Amount
    public var turnover: Turnover?
    /// Where they are, those that grew most first.
    public var containers: [Container]
    /// Where they were allocated, those that grew most first.
    public var sites: [Site]
  }

  /// What grew in one container, together with all that it alone keeps.
  public struct Growth: Codable, Sendable, Equatable {
    /// Type of the objects.
    public var type: String
    /// Of `C memory`: the library that allocated it.
    public var module: String?
    /// Type of the object that has the field, or the root.
    public var containerType: String
    /// The field; empty for a root.
    public var field: String
    /// The objects; bytes with all that they and the container's storage alone keep.
    public var before: Amount
    public var after: Amount
    public var turnover: Turnover?
    /// Elements of the collection itself, where it has no objects.
    public var elements: Elements?
    /// What the objects keep, those of which there are more.
    public var with: [LeakReport.TypeCount]
    public var sites: [Site]
    public var retainPath: [LeakReport.PathStep]

    /// Bytes that were added.
    public var bytes: Int { after.bytes.minus(before.bytes) }
    /// Objects that were added.
    public var count: Int { after.count.minus(before.count) }
  }

  /// Elements of collections of values.
  public struct Elements: Codable, Sendable, Hashable {
    public var before: Int
    public var after: Int
  }

  /// The version of the JSON schema of the difference.
  public var schemaVersion = LeakReport.schemaVersion
  public var kind = "growth"
  public var tool: LeakReport.Tool
  /// The process of the new file.
  public var process: LeakReport.Process
  public var before: Moment
  public var after: Moment
  /// True if both files are of one process.
  public var sameProcess: Bool
  public var turnover: Turnover?
  /// What grew, by container; the worst first.
  public var growth: [Growth]
  /// All types of which there is more or less than before, those that grew most first.
  public var types: [TypeChange]
  /// What changed in the leaks.
  public var leaks: ReportDiff?
  /// What the reader has to know, one sentence each.
  public var notes: [String]
}
