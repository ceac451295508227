import UndeadSystem

/// Something that a test started and that has not ended.
package struct LeftWork: Sendable, Hashable {
  package enum Kind: UInt32, Sendable {
    case task = 1
    case timer, call, thread
    /// A block of a queue that runs.
    case block
  }

  package var kind: Kind
  /// Flags of a task's status, see ``TaskState``.
  package var status: UInt32
  /// Return addresses.
  package var frames: [UInt64]
  /// False for what another test may have started that runs at the same time.
  package var isOwn: Bool
  /// True for a task that has a thread: it may end by itself.
  package var isRunning: Bool { kind == .task && status & TaskState.Flag.running != 0 }
  /// True for a block of which nobody knows whether it runs, or will: the program may keep it for something else.
  package var mayRun: Bool { kind == .block && frames.isEmpty }
  /// True for a task that waits for its turn: nobody can say whether it ends when it has had one.
  package var isQueued: Bool { kind == .task && !isRunning && status & TaskState.Flag.enqueued != 0 }

  package init(kind: Kind, status: UInt32 = 0, frames: [UInt64], isOwn: Bool = true) {
    self.kind = kind
    self.status = status
    self.frames = frames
    self.isOwn = isOwn
  }
}

extension FailureText {
  /// The message for what was left; equal things are counted.
  ///
  /// - Parameter frames: gives the functions of return addresses.
  package static func text(
    _ left: [LeftWork], frames: ([UInt64]) -> Backtrace, directory: String = ""
  ) -> String {
    var options = ReportTextOptions(stacks: false)
    options.directory = directory
    let groups = Dictionary(grouping: left) { $0 }.map { (work: $0.key, count: $0.value.count) }
      .ordered {
        (-$0.count, $0.work.kind.rawValue, $0.work.frames.first ?? 0) < (
          -$1.count, $1.work.kind.rawValue, $1.work.frames.first ?? 0
        )
      }
    let title: TextLine =
      "left: \(left.count == 1 ? "something was started that has not ended" : "\(Quantity.grouped(left.count)) things were started that have not ended")"
    var lines: [TextLine] = [title]
    for (work, count) in groups.prefix(mostLeft) {
      let backtrace = frames(work.frames)
      let own = backtrace.firstOwnFrame
      let place: TextLine = own.map { " in \(StackText.function($0))\(StackText.place($0, options))" } ?? ""
      let (words, advice) = words(work, backtrace)
      lines.append("  \(Quantity.grouped(count)) \u{D7} \(words)\(place)")
      if work.status & TaskState.Flag.cancelled != 0 { lines.append("      was cancelled") }
      for (number, row) in StackText.wrapped(advice, width: 100).enumerated() {
        lines.append("      \(number == 0 ? "advice" : "      ")     \(TextLine(row))")
      }
    }
    if groups.count > mostLeft { lines.append("  ... and more in \(groups.count - mostLeft) places") }
    return lines.text(options, ending: false)
  }

  private static let mostLeft = 12

  private static func words(_ work: LeftWork, _ backtrace: Backtrace) -> (what: TextLine, advice: String) {
    switch work.kind {
    case .timer: return ("timer of libdispatch that still fires, made", "call cancel() on it at the end")
    case .call:
      return (
        "call that is still to come (asyncAfter), made", "keep it as a DispatchWorkItem, and cancel() it at the end"
      )
    case .thread: return ("thread that still runs", "have it end, and wait for that")
    case .block: return ("block on a queue that still runs", "have it end, and wait for that")
    case .task: break
    }
    let own = backtrace.firstOwnFrame
    let state = TaskState(status: work.status, frames: backtrace.frames.prefix { $0 != own }.map(\.symbol))
    let cancel = "keep the task and call cancel() at the end, then await its value"
    return switch state {
    case .running: ("task that runs", "await its value before the end, or cancel() it")
    case .sleep: ("task that sleeps", cancel)
    case .stream: ("task that waits for the next element of a sequence", "finish() the stream, or \(cancel)")
    case .task: ("task that waits for other tasks", cancel)
    case .continuation:
      (
        "task that waits for a continuation to be resumed",
        "resume it exactly once on every path; cancel() alone does not"
      )
    case .queued, .actor: ("task that waits for its turn", "see what keeps its actor, or all threads, busy")
    case .finished: ("task that has ended", cancel)
    }
  }
}
