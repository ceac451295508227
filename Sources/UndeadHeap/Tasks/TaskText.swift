import UndeadReport
import UndeadSystem

/// Writes the answers of `undead tasks` for people.
package enum TaskText {
  /// The report as text that ends with a newline; the same text for the same report and options.
  ///
  /// - Parameter rows: most groups that are shown.
  package static func render(_ report: TaskReport, rows: Int = 20, options: TextOptions = TextOptions()) -> String {
    let name = ReportText.fileName(report.process.path)
    let heading =
      "\(name.isEmpty ? "process" : name) (pid \(report.process.pid)) after \(Quantity.duration(report.process.durationSeconds)): "
      + "\(Quantity.of(report.summary.tasks, "task")) in \(Quantity.of(report.summary.groups, "group"))"
    var lines: [TextLine] = [PathText.heading("\(heading)"), ""]
    for group in report.groups.prefix(rows) {
      lines += Self.lines(group, options)
      lines.append("")
    }
    let hidden = report.groups.count - rows
    if hidden > 0 { lines += ["... \(Quantity.of(hidden, "more group")) (--top)", ""] }
    lines += report.summary.notes.map { "note: \($0)" }
    if !report.summary.notes.isEmpty { lines.append("") }
    lines.append("undead: \(summary(report.summary))")
    return lines.text(options)
  }

  private static func summary(_ summary: TaskReport.Summary) -> String {
    var parts = [Quantity.of(summary.tasks, "task")]
    if summary.neverResumed > 0 { parts.append("\(Quantity.grouped(summary.neverResumed)) never resumed") }
    if summary.ownerGone > 0 { parts.append("\(Quantity.grouped(summary.ownerGone)) whose owner is gone") }
    return parts.joined(separator: ", ")
  }

  private static func lines(_ group: TaskReport.Group, _ options: TextOptions) -> [TextLine] {
    let cancelled = group.cancelled > 0 ? ", \(Quantity.grouped(group.cancelled)) cancelled" : ""
    var lines: [TextLine] = [
      "  \(HeapNumber.right(Quantity.grouped(group.count), 9)) \u{D7} \(PathText.heading("\(words(group))"))  "
        + "(\(Quantity.bytes(group.retainedBytes)) retained\(cancelled))"
    ]
    func add(_ label: TextLine, _ text: TextLine) { lines.append("      \(label.padded(10)) \(text)") }
    if !group.backtrace.frames.isEmpty { add("", HeapDiffText.site(group.backtrace, options)) }
    if group.ownerGone, let owner = group.owner {
      add(
        "owner",
        "\(PathText.type(TextLine(owner))) is gone: call cancel() when it goes away, in its deinit at the latest")
    }
    if let path = group.resumedBy, group.state != .running {
      add("kept by", HeapDiffText.path(path, options))
    }
    return lines
  }

  private static func words(_ group: TaskReport.Group) -> String {
    if group.resumedBy == nil {
      switch group.state {
      case .continuation, .stream, .task, .sleep, .actor: return "never resumed: nothing leads to what could do it"
      case .running, .queued, .finished: break
      }
    }
    switch group.state {
    case .running: return "run"
    case .queued: return "wait for a thread"
    case .continuation: return "wait for a continuation to be resumed"
    case .task: return "wait for other tasks"
    case .stream: return "wait for the next element of a sequence"
    case .sleep: return group.waitsIn == nil ? "belong to the runtime, one for each sleep" : "sleep"
    case .actor: return "wait for an actor"
    case .finished: return "have finished, and are kept"
    }
  }
}
