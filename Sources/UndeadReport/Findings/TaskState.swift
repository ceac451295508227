/// What a task does.
package enum TaskState: String, Codable, Sendable, CaseIterable {
  case running
  /// For a thread.
  case queued
  /// For somebody who resumes it.
  case continuation
  /// For other tasks.
  case task
  case stream
  case sleep
  /// For an actor that is busy.
  case actor
  case finished
}

extension TaskState {
  /// Flags of ActiveTaskStatus (stdlib/public/Concurrency/TaskPrivate.h), without the eight bits of the priority.
  package enum Flag {
    package static let cancelled: UInt32 = 0x1
    package static let running: UInt32 = 0x8
    package static let enqueued: UInt32 = 0x10
    package static let complete: UInt32 = 0x20
    /// It waits for what the runtime knows; such a task that is enqueued as well waits for an actor.
    package static let hasDependency: UInt32 = 0x40
    /// It waits for nothing.
    package static let ended = running | complete
  }

  /// What the runtime says that a suspended task waits for.
  package enum Dependency: UInt8, Sendable {
    case unknown, task, continuation, group, executor
  }

  /// - Parameters:
  ///   - status: the flags.
  ///   - dependency: what the runtime says that it waits for.
  ///   - frames: functions in which it waits, innermost first, up to the first of the program.
  package init(status: UInt32, dependency: Dependency = .unknown, frames: [String]) {
    if status & Flag.complete != 0 {
      self = .finished
    } else if status & Flag.running != 0 {
      self = .running
    } else if status & Flag.enqueued != 0 {
      self = status & Flag.hasDependency != 0 ? .actor : .queued
    } else if dependency == .task || dependency == .group {
      self = .task
    } else if frames.contains(where: { $0.contains("sleep(") }) {
      self = .sleep
    } else if frames.contains(where: { $0.contains("task_future_wait") || $0.contains("task_group_wait") }) {
      self = .task
    } else if frames.contains(where: Self.isOfSequence) {
      self = .stream
    } else {
      self = .continuation
    }
  }

  /// Name of a priority, as `TaskPriority` calls it.
  package static func priority(_ value: UInt8) -> String {
    switch value {
    case 0x09: "background"
    case 0x11: "utility"
    case 0x15: "default"
    case 0x19: "userInitiated"
    default: "\(value)"
    }
  }

  /// "Swift.AsyncStream._Storage.next()", "AsyncAlgorithms.AsyncChannel.Iterator.next()".
  private static func isOfSequence(_ function: String) -> Bool {
    function.contains("Async") && (function.contains("next(") || function.contains("Iterator"))
  }
}
