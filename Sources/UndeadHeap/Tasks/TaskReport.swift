import UndeadReport

/// What `undead tasks` says; encodes to the JSON of `Documentation/heap-format.md`.
package struct TaskReport: Codable, Sendable, Equatable {
  package struct Summary: Codable, Sendable, Equatable {
    package var tasks = 0
    package var groups = 0
    /// Tasks that wait, and that nothing can resume.
    package var neverResumed = 0
    /// Those of them that something still leads to, as a handle does: no leaks.
    package var neverResumedReachable = 0
    /// Tasks that only the holder of a handle could end, by cancelling them.
    package var onlyCancelled = 0
    /// Tasks whose closures captured objects weakly, all of which are gone.
    package var ownerGone = 0
    /// Tasks that were cancelled, and have not ended.
    package var cancelled = 0
    package var complete = true
    package var notes: [String] = []
  }

  /// What could resume tasks.
  package enum Resumption: String, Codable, Sendable {
    case possible, onlyCancel, never
  }

  /// How a task is part of its parent.
  package enum Role: String, Codable, Sendable {
    case asyncLet, groupChild
  }

  /// Tasks that do the same at one place, as parts of tasks that do the same.
  package struct Group: Codable, Sendable, Equatable {
    package var state: TaskState
    package var count: Int
    /// Index of the group of their parents in `groups`.
    package var parent: Int?
    package var role: Role?
    /// What would be freed with them.
    package var retainedBytes: Int
    /// The function of the program in which they wait.
    package var waitsIn: LeakReport.Frame?
    package var backtrace: LeakReport.Backtrace
    package var resumption: Resumption
    /// The shortest way from a root to one of them: who could resume it; nil if nothing leads to it.
    package var resumedBy: [LeakReport.PathStep]?
    /// Type of the actor that they wait for.
    package var actor: String?
    /// Some of their names.
    package var names: [String]
    /// The lowest and the highest one, by name: "background", "utility", "default", "userInitiated".
    package var priorities: [String]
    /// Numbers of the marks after which the oldest and the newest were made; empty without marks.
    package var generations: [Int]
    /// True if all of them have an owner that is gone.
    package var ownerGone: Bool
    /// Type of the owners that are gone.
    package var owner: String?
    /// How many of them were cancelled.
    package var cancelled: Int
    /// When the first and the last of them wake, in seconds from the look on.
    package var wakesInSeconds: [Double]?
    /// How many of the runtime's own belong to sleeps that were cancelled: kept until the time of the sleep is over.
    package var cancelledSleeps: Int?
  }

  package var schemaVersion = 1
  package var kind = "tasks"
  package var tool: LeakReport.Tool
  package var process: LeakReport.Process
  /// When the heap was taken, in UTC, ISO 8601; empty if that is not known.
  package var takenAt: String
  package var summary: Summary
  /// The worst first, parents before their children: never resumed, without an owner, then those that retain most.
  package var groups: [Group]

  /// The report as JSON with sorted keys and a newline at the end, the same bytes for the same report.
  package func json() throws -> [UInt8] { [UInt8](try JSONRenderer.encode(self)) }
}
