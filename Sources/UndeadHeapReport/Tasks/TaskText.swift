import UndeadHeap
import UndeadReport
import UndeadSystem

/// Writes the answers of `undead tasks` for people.
package enum TaskText {
  /// The report as text that ends with a newline; the same text for the same report and options.
  ///
  /// - Parameter rows: most groups that are shown.
  package static func render(_ report: TaskReport, rows: Int = 20, options: ReportTextOptions = ReportTextOptions())
    -> String
  {
    let name = SymbolText.fileName(report.process.path)
    let heading =
      "\(name.isEmpty ? "process" : name) (pid \(report.process.pid)) after \(Quantity.duration(report.process.durationSeconds)): "
      + "\(Quantity.of(report.summary.tasks, "task")) in \(Quantity.of(report.summary.groups, "group"))"
    var lines: [TextLine] = [PathText.heading("\(heading)"), ""]
    var depths: [Int] = []
    for (number, group) in report.groups.prefix(rows).enumerated() {
      depths.append(group.parent.map { depths[$0] + 1 } ?? 0)
      if number > 0, group.parent == nil { lines.append("") }
      lines += Self.lines(group, depth: depths[number], options)
    }
    if !report.groups.isEmpty { lines.append("") }
    let hidden = report.groups.count - rows
    if hidden > 0 { lines += ["... \(Quantity.of(hidden, "more group")) (--top)", ""] }
    lines += report.summary.notes.map { "note: \($0)" }
    if !report.summary.notes.isEmpty { lines.append("") }
    lines.append("undead: \(summary(report.summary))")
    return lines.text(options)
  }

  static func summary(_ summary: TaskReport.Summary) -> String {
    var parts = [Quantity.of(summary.tasks, "task")]
    if summary.neverResumed > 0 {
      let reachable = summary.neverResumedReachable
      let which =
        reachable == 0
        ? ""
        : reachable == summary.neverResumed
          ? " (reachable, so no leaks)" : " (\(Quantity.grouped(reachable)) of them reachable, so no leaks)"
      parts.append("\(Quantity.grouped(summary.neverResumed)) never resumed\(which)")
    }
    if summary.onlyCancelled > 0 {
      parts.append("\(Quantity.grouped(summary.onlyCancelled)) that only cancel() can end")
    }
    if summary.ownerGone > 0 { parts.append("\(Quantity.grouped(summary.ownerGone)) whose owner is gone") }
    if summary.cancelled > 0 { parts.append("\(Quantity.grouped(summary.cancelled)) cancelled and not ended") }
    return parts.joined(separator: ", ")
  }

  private static func lines(_ group: TaskReport.Group, depth: Int, _ options: ReportTextOptions) -> [TextLine] {
    let indent = String(repeating: "    ", count: min(depth, 12))
    var lines: [TextLine] = [
      "  \(indent)\(Quantity.right(Quantity.grouped(group.count), 9)) \u{D7} \(role(group))\(PathText.heading("\(words(group))"))  "
        + "(\(facts(group)))"
    ]
    func add(_ label: TextLine, _ text: TextLine) { lines.append("      \(indent)\(label.padded(10)) \(text)") }
    if group.waitsIn != nil {
      add("", HeapDiffText.site(group.backtrace, options))
    }
    if !group.names.isEmpty { add("named", TextLine(group.names.joined(separator: ", "))) }
    if let actor = group.actor { add("actor", PathText.type(TextLine(actor))) }
    if group.ownerGone, let owner = group.owner {
      add(
        "owner",
        "\(PathText.type(TextLine(owner))) is gone: call cancel() when it goes away, in its deinit at the latest")
    }
    // What a child of a group waits for, its parent does not show. One of `async let` lies in the memory of its parent.
    let waitsItself = (group.state == .continuation || group.state == .stream) && group.role != .asyncLet
    if let path = group.resumedBy, group.state != .running, group.parent == nil || waitsItself {
      add("kept by", HeapDiffText.path(path))
    }
    return lines
  }

  package static func role(_ group: TaskReport.Group) -> String {
    group.role.map { $0 == .asyncLet ? "async let: " : "in its group: " } ?? ""
  }

  private static func facts(_ group: TaskReport.Group) -> String {
    var facts = ["\(Quantity.bytes(group.retainedBytes)) retained"]
    if group.cancelled > 0 { facts.append("\(Quantity.grouped(group.cancelled)) cancelled") }
    if let cancelled = group.cancelledSleeps {
      facts.append("\(Quantity.grouped(cancelled)) of cancelled sleeps: kept until their time is over")
    }
    if let first = group.wakesInSeconds?.first, let last = group.wakesInSeconds?.last {
      let (soonest, latest) = (Quantity.duration(first), Quantity.duration(last))
      let what = group.waitsIn == nil ? "end" : "wake"
      facts.append("\(what) in \(soonest == latest ? soonest : "\(soonest) to \(latest)")")
    }
    if group.priorities != ["default"], group.priorities != ["0"], !group.priorities.isEmpty {
      facts.append("priority \(group.priorities.joined(separator: " to "))")
    }
    if let first = group.generations.first, let last = group.generations.last {
      facts.append(first == last ? "generation \(first)" : "generations \(first) to \(last)")
    }
    return facts.joined(separator: ", ")
  }

  /// What the tasks of a group do, and whether they can go on.
  package static func words(_ group: TaskReport.Group) -> String {
    let what = state(group)
    switch group.state {
    case .running, .queued, .finished: return what
    case .continuation, .stream, .task, .sleep, .actor: break
    }
    switch group.resumption {
    case .possible: return what
    case .onlyCancel: return "\(what): only cancel() can end them"
    case .never:
      return group.resumedBy == nil ? "never resumed: nothing leads to what could do it" : "never resumed: they \(what)"
    }
  }

  private static func state(_ group: TaskReport.Group) -> String {
    switch group.state {
    case .running: "run"
    case .queued: "wait for a thread"
    case .continuation: "wait for a continuation to be resumed"
    case .task: "wait for other tasks"
    case .stream: "wait for the next element of a sequence"
    case .sleep: group.waitsIn == nil ? "belong to the runtime, one for each sleep" : "sleep"
    case .actor: "wait for an actor"
    case .finished: "have finished, and are kept"
    }
  }
}
