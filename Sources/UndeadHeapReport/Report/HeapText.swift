import UndeadHeap
import UndeadReport
import UndeadSystem

/// What a text of a heap shows first.
package enum HeapView: String, Sendable, CaseIterable {
  case type, module, site, root, generation, descriptor, thread
}

/// Writes the answers of `undead heap` for people.
package struct HeapText {
  private let report: HeapReport
  private let options: ReportTextOptions
  private var lines: [TextLine] = []

  private init(_ report: HeapReport, _ options: ReportTextOptions) {
    self.report = report
    self.options = options
  }

  /// The report as text that ends with a newline; the same text for the same report and options.
  ///
  /// - Parameters:
  ///   - report: what is shown.
  ///   - view: the table that is shown.
  ///   - rows: so many of the table are shown.
  ///   - options: how the text looks.
  package static func render(
    _ report: HeapReport, by view: HeapView = .type, rows: Int = 20, options: ReportTextOptions = ReportTextOptions()
  ) -> String {
    var text = HeapText(report, options)
    if let detail = report.detail {
      text.add(detail)
    } else {
      text.addHeading()
      text.addVerdict()
      text.addTable(view, rows)
      text.lines += FindingsText.lines(report.findings, options)
      if let tasks = report.tasks { text.lines += ["tasks: \(TaskText.summary(tasks)) (undead tasks)", ""] }
      text.addNotes()
      text.lines.append(text.summary)
    }
    return text.lines.text(options)
  }

  // MARK: Table

  private mutating func addHeading() {
    let process = report.process
    let name = SymbolText.fileName(process.path)
    let summary = report.summary
    let blocks = Quantity.grouped(summary.objects + summary.rawBlocks)
    let bytes = Quantity.bytes(summary.objectBytes + summary.rawBytes)
    lines.append(
      "\(PathText.heading("\(name.isEmpty ? "process" : name) (pid \(process.pid))")) "
        + "after \(Quantity.duration(process.durationSeconds)): \(blocks) live blocks, \(bytes)")
    lines.append("")
  }

  private struct Row {
    var retained: Int
    var bytes: Int?
    var count: Int
    var name: TextLine
  }

  /// "12,400 ± 800".
  private static func text(_ number: String, margin: String) -> String { "\(number) \u{B1} \(margin)" }

  private mutating func addSampledSites(_ sampleBytes: Int, _ limit: Int) {
    func line(_ bytes: String, _ count: String, _ name: TextLine) -> TextLine {
      "  \(Quantity.right(bytes, 20))\(Quantity.right(count, 22))  \(name)"
    }
    lines.append(PathText.faint(line("own bytes, about", "count, about", "allocated")))
    for row in report.sites.prefix(limit) {
      guard let estimate = row.estimate else { continue }
      let bytes = Self.text(Quantity.bytes(estimate.bytes), margin: Quantity.bytes(estimate.bytesMargin))
      let count = Self.text(Quantity.grouped(estimate.count), margin: Quantity.grouped(estimate.countMargin))
      lines.append(line(bytes, count, "\(type(row.type)) \(place(row))"))
    }
    let hidden = report.sites.count - limit
    if hidden > 0 { lines.append(PathText.faint("  ... \(Quantity.grouped(hidden)) more (--top)")) }
    lines.append("")
    lines.append(
      "Estimates, in 19 of 20 cases within \u{B1}: one allocation was sampled for \(Quantity.bytes(sampleBytes)) on "
        + "average. The tables of types count every block.")
    lines.append("")
  }

  private mutating func addTable(_ view: HeapView, _ limit: Int) {
    if view == .descriptor {
      lines += ResourcesText.lines(report.descriptors, limit: limit, options)
      return
    }
    if view == .thread {
      lines += ResourcesText.lines(report.threads, limit: limit, options)
      return
    }
    if view == .site, let sampleBytes = report.summary.sampleBytes {
      addSampledSites(sampleBytes, limit)
      return
    }
    let rows = tableRows(view, limit)
    let title = view == .root ? "root" : view == .site ? "allocated" : view.rawValue
    let hasBytes = view != .root
    func line(_ retained: String, _ bytes: String, _ count: String, _ name: TextLine) -> TextLine {
      "  \(Quantity.right(retained, 10))\(hasBytes ? Quantity.right(bytes, 12) : "")\(Quantity.right(count, 12))  \(name)"
    }
    lines.append(PathText.faint(line("retained", "own bytes", view == .root ? "blocks" : "count", TextLine(title))))
    for row in rows.prefix(limit) {
      lines.append(
        line(
          Quantity.bytes(row.retained), row.bytes.map(Quantity.bytes) ?? "", Quantity.grouped(row.count), row.name)
      )
    }
    let hidden = total(view) - min(rows.count, limit)
    if hidden > 0 {
      lines.append(PathText.faint("  ... \(Quantity.grouped(hidden)) more (--top)"))
    }
    lines.append("")
  }

  private func total(_ view: HeapView) -> Int {
    switch view {
    case .type: report.types.count
    case .module: report.modules.count
    case .site: report.sites.count
    case .root: report.roots.count
    case .generation: report.generations.count
    case .descriptor, .thread: 0
    }
  }

  private func tableRows(_ view: HeapView, _ limit: Int) -> [Row] {
    switch view {
    case .type:
      return report.types.prefix(limit).map {
        let module = $0.module.map { " (\($0))" } ?? ""
        return Row(retained: $0.retainedBytes, bytes: $0.bytes, count: $0.count, name: "\(type($0.type))\(module)")
      }
    case .module:
      return report.modules.prefix(limit).map {
        Row(retained: $0.retainedBytes, bytes: $0.bytes, count: $0.count, name: TextLine($0.module))
      }
    case .site:
      return report.sites.prefix(limit).map {
        Row(retained: $0.retainedBytes, bytes: $0.bytes, count: $0.count, name: "\(type($0.type)) \(place($0))")
      }
    case .root:
      return report.roots.prefix(limit).map { Row(retained: $0.retainedBytes, count: $0.count, name: root($0)) }
    case .generation:
      return report.generations.prefix(limit).map {
        let name: TextLine = $0.number == 0 ? "\($0.name)" : "\($0.number) \($0.name)"
        return Row(retained: $0.retainedBytes, bytes: $0.bytes, count: $0.count, name: name)
      }
    case .descriptor, .thread: return []
    }
  }

  private func root(_ row: HeapReport.RootRow) -> TextLine {
    switch row.kind {
    case "shared", "other", "beforeRecording": TextLine(row.name)
    case "unreachable": "unreachable: leaked, or memory of C code that nothing names"
    default: "[\(row.kind == "threadLocal" ? "thread-local" : row.kind)] \(row.name)"
    }
  }

  private func type(_ name: String) -> TextLine { PathText.type(TextLine(name)) }

  private func place(_ row: HeapReport.SiteRow) -> TextLine {
    guard let frame = row.allocation.site else { return "(no backtrace)" }
    return "in \(PathText.place(frame, options))"
  }

  // MARK: Memory

  private static let wrap = 100
  private static let pinRows = 5

  private mutating func addVerdict() {
    guard let verdict = report.verdict else { return }
    lines.append(PathText.heading("\(verdict.sentence)"))
    for (number, row) in StackText.wrapped(verdict.advice, width: Self.wrap).enumerated() {
      lines.append("  \(number == 0 ? "advice: " : "        ")\(TextLine(row))")
    }
    lines.append("")
    lines.append("  \(Quantity.right(Quantity.bytes(report.summary.residentBytes), 10))  resident memory, of which")
    for (bytes, words) in parts(verdict) where bytes > 0 {
      lines.append("  \(Quantity.right(Quantity.bytes(bytes), 10))  \(words)")
    }
    lines.append("")
    addPins(verdict)
  }

  /// The parts of the resident memory; they add up to it.
  private func parts(_ verdict: MemoryVerdict) -> [(Int, String)] {
    func sum(_ kind: String) -> Int { report.memory.filter { $0.kind == kind }.reduce(0) { $0 &+ $1.residentBytes } }
    var parts = [
      (verdict.leakedBytes, "unreachable: leaked, or memory of C code that nothing names"),
      (verdict.liveBytes, "in use: live blocks"),
    ]
    if let trimmable = verdict.trimmableBytes, let pinned = verdict.pinnedBytes, let unused = verdict.unusedArenaBytes {
      parts += [
        (
          trimmable,
          verdict.allocator.map { "retained: free, as \($0) says" }
            ?? "retained: free, and malloc_trim(0) would give them back"
        ),
        (unused, "retained: the free ends of threads' arenas, which malloc gives back to nobody"),
        (pinned, "pinned: free, but on pages that living blocks keep"),
        (verdict.mallocFreeBytes - trimmable - unused - pinned, "other free memory and overhead of malloc"),
      ]
    } else {
      parts.append((verdict.mallocFreeBytes, "free in malloc, and its overhead"))
    }
    return parts + Self.memoryWords.map { (sum($0.kind), $0.words) }
  }

  private mutating func addPins(_ verdict: MemoryVerdict) {
    guard verdict.kind == .pinned || verdict.kind == .retained, (verdict.pinnedBytes ?? 0) >= 1 << 20 else { return }
    lines.append(PathText.heading("pinned by"))
    for pin in verdict.pinnedBy.prefix(Self.pinRows) {
      let site =
        pin.allocation.site.map { " allocated in \(PathText.place($0, options))" as TextLine } ?? ""
      lines.append(
        "  \(Quantity.right(Quantity.bytes(pin.pinnedBytes), 10))  \(Quantity.grouped(pin.count)) \u{D7} \(type(pin.type)) on "
          + "\(Quantity.grouped(pin.pages)) pages\(site)")
    }
    lines.append("")
  }

  private static let memoryWords: [(kind: String, words: String)] = [
    ("files", "code and data of the program and its libraries"), ("mapped", "memory that the program mapped itself"),
    ("stacks", "stacks of threads"), ("other", "other"), ("undead", "Undead's own"),
  ]

  private mutating func addNotes() {
    for note in report.summary.notes { lines.append("note: \(note)") }
    if !report.summary.notes.isEmpty { lines.append("") }
  }

  private var summary: TextLine {
    let summary = report.summary
    var parts = [
      "\(Quantity.grouped(summary.objects)) object\(summary.objects == 1 ? "" : "s") of "
        + "\(Quantity.grouped(summary.types)) type\(summary.types == 1 ? "" : "s") (\(Quantity.bytes(summary.objectBytes)))",
      "\(Quantity.grouped(summary.rawBlocks)) blocks without a type (\(Quantity.bytes(summary.rawBytes)))",
    ]
    if summary.unreachableBlocks > 0 {
      parts.append(
        "\(Quantity.grouped(summary.unreachableBlocks)) unreachable (\(Quantity.bytes(summary.unreachableBytes)))")
    }
    return "undead: \(parts.joined(separator: ", "))"
  }

  // MARK: Detail

  private mutating func add(_ detail: HeapReport.Detail) {
    let size =
      "\(Quantity.bytes(detail.bytes)) own, \(Quantity.bytes(detail.retainedBytes)) retained"
    lines.append(
      "\(Quantity.grouped(detail.count)) \u{D7} \(PathText.heading("\(detail.type)"))  (\(size))")
    lines.append("")
    addTypes(detail.types ?? [])
    addPaths(detail)
    addReferrers(detail)
    addReferences(detail)
    addSites(detail)
    addInstances(detail)
    addNotes()
    if lines.last == "" { lines.removeLast() }
  }

  private static let detailRows = 10

  private mutating func addTypes(_ types: [HeapReport.TypeRow]) {
    guard !types.isEmpty else { return }
    lines.append(PathText.heading("types"))
    for row in types.prefix(Self.detailRows) {
      lines.append(
        "  \(Quantity.right(Quantity.grouped(row.count), 10))  \(type(row.type)) (\(Quantity.bytes(row.bytes)))")
    }
    addHidden(types.count)
  }

  private mutating func addHidden(_ count: Int) {
    if count > Self.detailRows { lines.append("  ... \(Quantity.grouped(count - Self.detailRows)) more") }
    lines.append("")
  }

  private mutating func addPaths(_ detail: HeapReport.Detail) {
    if detail.count == 1, let path = detail.instances.first?.retainPath {
      lines.append(PathText.heading("held by"))
      lines += path.first?.root == nil ? ["    nothing: no root leads to it"] : []
      lines += PathText.lines(path, options)
      lines.append("")
    }
    for path in detail.paths {
      lines.append(
        "\(PathText.heading("held by"))  (\(Quantity.grouped(path.count)) of \(Quantity.grouped(detail.count)), the shortest "
          + "path of its shape)")
      lines += path.retainPath.first?.root == nil ? ["    nothing: no root leads to them"] : []
      lines += PathText.lines(path.retainPath, options)
      lines.append("")
    }
  }

  private mutating func addReferrers(_ detail: HeapReport.Detail) {
    guard !detail.referrers.isEmpty else { return }
    lines.append(PathText.heading("referred to by"))
    for row in detail.referrers.prefix(Self.detailRows) {
      let field: TextLine = row.field.isEmpty ? "" : " \(PathText.field(Self.fieldText(row.field)))"
      let strength = row.strength.map { " (\($0))" } ?? ""
      lines.append("  \(Quantity.right(Quantity.grouped(row.count), 10))  \(type(row.type))\(field)\(strength)")
    }
    addHidden(detail.referrers.count)
  }

  private static func fieldText(_ field: String) -> TextLine {
    field.contains(" ") || "+[".contains(field.prefix(1)) ? "\(field)" : ".\(field)"
  }

  private mutating func addReferences(_ detail: HeapReport.Detail) {
    guard !detail.references.isEmpty else { return }
    lines.append(PathText.heading("refers to"))
    for row in detail.references.prefix(Self.detailRows) {
      let size = row.strength.map { "(\($0))" } ?? "(\(Quantity.bytes(row.bytes)))"
      let field = PathText.field(Self.fieldText(row.field))
      lines.append(
        "  \(Quantity.right(Quantity.grouped(row.count), 10))  \(field) \u{2192} \(type(row.type)) \(size)")
    }
    addHidden(detail.references.count)
  }

  private mutating func addSites(_ detail: HeapReport.Detail) {
    let sites = detail.sites.filter { !$0.allocation.frames.isEmpty }
    guard !sites.isEmpty else { return }
    lines.append(PathText.heading("allocated"))
    for row in sites {
      let margin = row.estimate.map { " \u{B1} \(Quantity.grouped($0.countMargin))" } ?? ""
      lines.append("  \(Quantity.right(Quantity.grouped(row.count) + margin, 10))  \(place(row))")
      if options.stacks {
        let stack = StackText.lines(row.allocation, options)
        if stack.count > 1 { lines += stack.map { "        \($0)" } }
      }
    }
    lines.append("")
  }

  private mutating func addInstances(_ detail: HeapReport.Detail) {
    guard !detail.instances.isEmpty else { return }
    if detail.count > 1 { lines.append(PathText.heading("those that retain most")) }
    for instance in detail.instances {
      var text =
        "  \(Quantity.right(Quantity.bytes(instance.retainedBytes), 10))  \(instance.address)  "
        + "\(Quantity.bytes(instance.size)) own"
      if let used = instance.used, let capacity = instance.capacity {
        text += ", \(Quantity.grouped(used)) of \(Quantity.grouped(capacity)) in use"
      }
      if let count = instance.references { text += ", " + Self.text(count) }
      lines.append(TextLine(text))
      guard detail.count == 1 else { continue }
      addDominators(instance.dominators)
    }
    lines.append("")
  }

  private static func text(_ count: ReferenceCount) -> String {
    let all = "\(count.total) strong reference\(count.total == 1 ? "" : "s")"
    guard count.found != count.total else { return all }
    let others = count.candidates.map { "; named by \($0.joined(separator: ", "))" } ?? ""
    return "\(all), \(count.found) found\(others)"
  }

  /// What would free the block if it went, up to the root.
  private mutating func addDominators(_ dominators: [HeapReport.Dominator]) {
    guard !dominators.isEmpty else { return }
    lines.append("")
    lines.append(PathText.heading("would go with"))
    for row in dominators {
      lines.append(
        "  \(Quantity.right(Quantity.bytes(row.retainedBytes), 10))  \(type(row.type))\(row.address.map { " \($0)" } ?? "")"
      )
    }
  }
}
