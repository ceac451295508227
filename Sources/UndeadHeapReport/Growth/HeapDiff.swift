import UndeadFormats
import UndeadHeap
import UndeadReport

/// What grew between two heap files.
package struct HeapDiff: Codable, Sendable, Equatable {
  package typealias Amount = HeapAmount

  /// One of the two files.
  package struct Moment: Codable, Sendable, Equatable {
    /// The process as it was then.
    package var process: LeakReport.Process
    /// Number of the newest generation.
    package var generation: Int
    /// All blocks.
    package var blocks: Amount
    /// Resident memory of the process; 0 if it is not known.
    package var residentBytes: Int
  }

  /// What came and went; only where both files are of one process.
  package struct Turnover: Codable, Sendable, Hashable {
    /// Blocks of the new file that the old one does not have.
    package var came: Int
    /// Blocks of the old file that the new one does not have.
    package var went: Int
  }

  /// Blocks that one function of the program allocated.
  package struct Site: Codable, Sendable, Equatable {
    package var before: Amount
    package var after: Amount
    /// The backtrace of most of them.
    package var allocation: LeakReport.Backtrace
    /// Where allocations are sampled, the amounts are estimates: in 19 of 20 cases the growth is so near to it.
    package var margin: Amount?
  }

  /// Objects of a type in one container.
  package struct Container: Codable, Sendable, Equatable {
    /// Type of the object that has the field, or the root.
    package var type: String
    /// The field; empty for a root.
    package var field: String
    /// How many more objects there are in it.
    package var count: Int
    package var before: Amount
    package var after: Amount
    /// The shortest way from a root to one of the new objects.
    package var retainPath: [LeakReport.PathStep]
  }

  /// A type that changed.
  package struct TypeChange: Codable, Sendable, Equatable {
    /// Module-qualified name.
    package var type: String
    /// Of `C memory`: the library that allocated it.
    package var module: String?
    package var before: Amount
    package var after: Amount
    package var turnover: Turnover?
    /// Where they are, those that grew most first.
    package var containers: [Container]
    /// Where they were allocated, those that grew most first.
    package var sites: [Site]
  }

  /// What grew in one container, together with all that it alone keeps.
  package struct Growth: Codable, Sendable, Equatable {
    /// Type of the objects.
    package var type: String
    /// Of `C memory`: the library that allocated it.
    package var module: String?
    /// Type of the object that has the field, or the root.
    package var containerType: String
    /// The field; empty for a root.
    package var field: String
    /// The objects; bytes with all that they and the container's storage alone keep.
    package var before: Amount
    package var after: Amount
    package var turnover: Turnover?
    /// Elements of the collection itself, where it has no objects.
    package var elements: Elements?
    /// What the objects keep, those of which there are more.
    package var with: [LeakReport.TypeCount]
    package var sites: [Site]
    package var retainPath: [LeakReport.PathStep]

    /// Bytes that were added.
    package var bytes: Int { after.bytes.minus(before.bytes) }
    /// Objects that were added.
    package var count: Int { after.count.minus(before.count) }
  }

  /// Elements of collections of values.
  package struct Elements: Codable, Sendable, Hashable {
    package var before: Int
    package var after: Int
  }

  /// The version of the JSON schema of the difference.
  package var schemaVersion = LeakReport.schemaVersion
  package var kind = "growth"
  package var tool: LeakReport.Tool
  /// The process of the new file.
  package var process: LeakReport.Process
  package var before: Moment
  package var after: Moment
  /// True if both files are of one process.
  package var sameProcess: Bool
  package var turnover: Turnover?
  /// What the resident memory did; only where both files are of one process and say where it is.
  package var verdict: MemoryVerdict?
  /// What is worth a look in the new heap and was not in the old one, the most bytes first.
  package var findings: [HeapFinding] = []
  /// Open files and threads of which there are more, the most first; only where both files are of one process.
  package var resources: [ResourceGrowth] = []
  /// What grew, by container; the worst first.
  package var growth: [Growth]
  /// All types of which there is more or less than before, those that grew most first.
  package var types: [TypeChange]
  /// What changed in the leaks.
  package var leaks: ReportDiff?
  /// What the reader has to know, one sentence each.
  package var notes: [String]
}
