import UndeadHeap
import UndeadReport
import UndeadSystem

/// Findings of a heap for people: a heading and a few lines each.
enum FindingsText {
  private static let limit = 8

  static func lines(_ findings: [HeapFinding], _ options: ReportTextOptions) -> [TextLine] {
    guard !findings.isEmpty else { return [] }
    var lines: [TextLine] = [PathText.heading("worth a look"), ""]
    for finding in findings.prefix(limit) {
      lines += Self.lines(finding, options)
      lines.append("")
    }
    if findings.count > limit {
      let bytes = findings.dropFirst(limit).total(\.bytes)
      lines += ["  ... \(findings.count - limit) more, \(Quantity.bytes(bytes))", ""]
    }
    return lines
  }

  private static func lines(_ finding: HeapFinding, _ options: ReportTextOptions) -> [TextLine] {
    var lines: [TextLine] = ["  \(PathText.heading("\(finding.title)"))  (\(size(finding)))"]
    func add(_ label: TextLine, _ text: TextLine) {
      lines.append("    \(label.padded(10)) \(text)")
    }
    if let container = finding.container {
      add("in", HeapDiffText.place(type: container.type, field: container.field))
    }
    if finding.retainPath.count > 1 || finding.container == nil, finding.retainPath.first?.root != nil {
      add("kept by", HeapDiffText.path(finding.retainPath))
    }
    if let suspended = finding.suspended { add("wait", HeapDiffText.site(suspended, options)) }
    if let closure = finding.closure, !closure.frames.isEmpty { add("closure", HeapDiffText.site(closure, options)) }
    if !finding.allocation.frames.isEmpty { add("allocated", HeapDiffText.site(finding.allocation, options)) }
    for (number, row) in StackText.wrapped(finding.advice, width: 100).enumerated() {
      add(number == 0 ? "advice" : "", TextLine(row))
    }
    return lines
  }

  private static func size(_ finding: HeapFinding) -> String {
    let bytes = Quantity.bytes(finding.bytes)
    let count = Quantity.grouped(finding.objects)
    let type = Number.readable(finding.type)
    switch finding.kind {
    case .emptyCapacity: return "\(bytes) empty in \(count) \u{D7} \(type)"
    case .sliceOfLargeBuffer:
      return "\(bytes) of \(count) \u{D7} \(type) kept by \(Quantity.bytes(finding.usedBytes ?? 0))"
    case .wholeObject: return "\(bytes) of \(count) \u{D7} \(type)"
    case .equalStrings, .equalBridgedObjects: return "\(bytes) in \(count) copies of \(type)"
    case .dominatingContainer: return "\(bytes), \(count) blocks below \(type)"
    case .waitingBlocks, .waitingTasks, .deadOwner, .finishedTasks, .deallocatedMemory, .lostMemory:
      return "\(count) \u{D7} \(type), \(bytes)"
    }
  }
}
