import UndeadReport
import UndeadSystem

/// The top of the page: the verdict, the figures, and a table of all findings.
struct ReportOverview {
  private let report: LeakReport
  private let options: ReportTextOptions
  private let entries: Entries

  init(_ report: LeakReport, _ options: ReportTextOptions, _ entries: Entries) {
    self.report = report
    self.options = options
    self.entries = entries
  }

  func write(to html: inout HTML) {
    let verdict = Verdict(report)
    let program = SymbolText.fileName(report.process.path)
    html.element("section", ["class": "overview"]) { html in
      html.element("h1") { html in
        html.element("span", ["class": "verdict \(verdict.level.rawValue)"], text: verdict.text)
        if !program.isEmpty { html.text(" in \(program)") }
      }
      html.line()
      tiles(&html)
      if report.process.arguments.count > 1 {
        html.element("p", ["class": "command"]) { html in
          html.element("code", text: report.process.arguments.joined(separator: " "))
        }
        html.line()
      }
      if !rows.isEmpty { table(&html) }
    }
    html.line()
  }

  // MARK: Figures

  private func tiles(_ html: inout HTML) {
    let summary = report.summary
    var tiles: [(label: String, value: String, note: String, link: String?, style: String)] = []
    tiles.append(
      (
        "leaks", Quantity.grouped(summary.leaks),
        summary.leaks == 0
          ? ""
          : "\(Quantity.of(summary.leakedObjects, "object")), \(Quantity.bytes(summary.leakedBytes))",
        report.leaks.isEmpty ? nil : "#leaks", summary.leaks == 0 ? "" : "bad"
      ))
    tiles.append(
      (
        "zombies", Quantity.grouped(summary.zombies), "", report.zombies.isEmpty ? nil : "#zombies",
        summary.zombies == 0 ? "" : "bad"
      ))
    tiles.append(
      (
        "suspects", Quantity.grouped(summary.suspects), "", report.suspects.isEmpty ? nil : "#suspects",
        summary.suspects == 0 ? "" : "doubtful"
      ))
    if summary.diagnostics > 0 {
      tiles.append(
        ("diagnostics", Quantity.grouped(summary.diagnostics), "", "#diagnostics", "doubtful"))
    }
    if !report.knownLeaks.isEmpty {
      tiles.append(
        ("known leaks", Quantity.grouped(report.knownLeaks.count), "of the toolchain", "#known", ""))
    }
    if summary.suppressed > 0 {
      tiles.append(("suppressed", Quantity.grouped(summary.suppressed), "", nil, ""))
    }
    tiles.append(
      (
        "looked at", Quantity.grouped(summary.liveBlocks),
        "blocks, \(Quantity.bytes(summary.liveBytes))", nil, ""
      ))
    if !summary.complete {
      tiles.append(("check", "incomplete", "see the notes", "#notes", "doubtful"))
    }
    html.element("div", ["class": "tiles"]) { html in
      for tile in tiles {
        Tile(
          label: tile.label, value: tile.value, note: tile.note, link: tile.link, style: tile.style
        ).write(to: &html)
      }
    }
    html.line()
  }

  // MARK: Table

  private struct Row {
    var id: String
    var kind: String
    var style: String
    var heading: String
    var test: String?
    var count: Int
    var objects: Int?
    var bytes: Int?
    var place: Frame?
  }

  private var rows: [Row] {
    entries.all.map { entry in
      let finding = entry.worst
      var tests = entry.group?.culprit.tests?.compactMap(\.test) ?? []
      if tests.isEmpty, let test = finding.test { tests = [test.fullName] }
      return Row(
        id: entry.id, kind: Words.kind(finding),
        style: finding.kind == .suspect ? "doubtful" : "bad",
        heading: entry.title,
        test: tests.first.map {
          tests.count > 1 ? "\($0) and \(Quantity.of(tests.count - 1, "other"))" : $0
        },
        count: entry.count, objects: entry.objectCount, bytes: entry.totalBytes,
        place: [Site.Role.used, .allocated, .suspended].lazy.compactMap { finding.site($0)?.frame }.first)
    }
  }

  private func table(_ html: inout HTML) {
    let rows = rows
    let hasTests = rows.contains { $0.test != nil }
    let numbers = ["Times", "Objects", "Bytes"].map { (name: $0, isNumber: true) }
    let texts = ["Kind", "Finding"] + (hasTests ? ["Test"] : [])
    html.table(
      ["class": "sortable", "id": "index"], caption: "Findings, the worst first",
      columns: texts.map { ($0, false) } + numbers + [("Where", false)], rows, finding: \.id
    ) { row, html in
      html.element("td") { $0.element("span", ["class": "badge \(row.style)"], text: row.kind) }
      html.element("td") { html in
        html.element("a", ["href": "#\(row.id)"]) { ReportFindings.marked(row.heading, &$0) }
      }
      if hasTests { html.element("td", text: row.test ?? "") }
      number(row.count, Quantity.grouped(row.count), &html)
      number(row.objects, row.objects.map(Quantity.grouped) ?? "", &html)
      number(row.bytes, row.bytes.map(Quantity.bytes) ?? "", &html)
      html.element("td", ["class": "where"]) { html in
        if let frame = row.place { StackView.place(frame, options, short: true, &html) }
      }
    }
    html.line()
  }

  private func number(_ value: Int?, _ text: String, _ html: inout HTML) {
    html.number(value.map(String.init) ?? "-1", text: text)
  }
}
