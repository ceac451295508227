import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// Writes what grew between two heap files as one page that needs nothing else.
package enum GrowthPage {
  /// The page as HTML; the same text for the same difference and options.
  package static func render(
    _ diff: HeapDiff, tool: LeakReport.Tool = LeakReport.Tool(), options: ReportTextOptions = ReportTextOptions()
  ) -> String {
    var plain = options
    plain.color = false
    let program = SymbolText.fileName(diff.process.path)
    let page = Page(
      title: "\(program.isEmpty ? "heap" : program): \(summary(diff)) \u{2013} \(tool.name) diff",
      subject: ReportPage.subject(diff.process), tool: tool, search: "Search what grew")
    return page.document { html in
      html.element("main", ["class": "growth"]) { html in
        html.line()
        GrowthOverview(diff).write(to: &html)
        GrowthContainers(diff, plain).write(to: &html)
        GrowthTypes(diff).write(to: &html)
        leaks(diff, plain, &html)
      }
      html.line()
    }
  }

  static func summary(_ diff: HeapDiff) -> String {
    let bytes = diff.after.blocks.bytes.minus(diff.before.blocks.bytes)
    return bytes == 0 ? "as large as before" : "\(bytes > 0 ? "grew" : "shrank") by \(Quantity.bytes(bytes.absolute))"
  }

  /// New leaks and suspects in full; what is known of the others is in the text form.
  private static func leaks(_ diff: HeapDiff, _ options: ReportTextOptions, _ html: inout HTML) {
    var report = LeakReport(process: diff.process)
    report.leaks = diff.leaks?.new ?? []
    report.suspects = diff.leaks?.suspects.new ?? []
    report.zombies = diff.leaks?.zombies.new ?? []
    ReportFindings(options, Entries(report), titles: .new).write(to: &html)
    report.leaks = []
    report.summary.notes = diff.notes + (diff.leaks?.notes ?? []).filter { !diff.notes.contains($0) }
    ReportRest(report, options).write(to: &html)
  }
}

/// The top of the page: by how much, and what it was before.
struct GrowthOverview {
  private let diff: HeapDiff

  init(_ diff: HeapDiff) {
    self.diff = diff
  }

  func write(to html: inout HTML) {
    let program = SymbolText.fileName(diff.process.path)
    let change = diff.after.blocks.bytes.minus(diff.before.blocks.bytes)
    html.element("section", ["class": "overview"]) { html in
      html.element("h1") { html in
        html.text("The heap" + (program.isEmpty ? "" : " of \(program)") + " ")
        html.element("span", ["class": "verdict \(change > 0 ? "bad" : "good")"], text: GrowthPage.summary(diff))
      }
      html.line()
      html.element("div", ["class": "tiles"]) { html in
        for tile in tiles { tile.write(to: &html) }
      }
      html.line()
      html.element("p", ["class": "hint"], text: sentence)
    }
    html.line()
  }

  private var tiles: [Tile] {
    let (old, new) = (diff.before, diff.after)
    var tiles = [
      Tile(
        label: "in memory", value: Quantity.bytes(new.blocks.bytes),
        note: "\(Change.bytes(new.blocks.bytes.minus(old.blocks.bytes))), before \(Quantity.bytes(old.blocks.bytes))"),
      Tile(
        label: "blocks", value: Quantity.grouped(new.blocks.count),
        note: "\(Change.signed(new.blocks.count.minus(old.blocks.count))), before \(Quantity.grouped(old.blocks.count))"
      ),
    ]
    if new.residentBytes > 0, old.residentBytes > 0 {
      tiles.append(
        Tile(
          label: "resident", value: Quantity.bytes(new.residentBytes),
          note: Change.bytes(new.residentBytes.minus(old.residentBytes))))
    }
    if let leaks = diff.leaks?.new, !leaks.isEmpty {
      tiles.append(Tile(label: "new leaks", value: Quantity.grouped(leaks.count), link: "#leaks", style: "bad"))
    }
    return tiles
  }

  private var sentence: String {
    guard let turnover = diff.turnover else { return "Two runs: types and sites are matched by their names." }
    return
      "One process: \(Quantity.grouped(turnover.came)) blocks came and \(Quantity.grouped(turnover.went)) went between the "
      + "two files."
  }
}

/// What grew, an article for each container.
struct GrowthContainers {
  private let diff: HeapDiff
  private let options: ReportTextOptions

  init(_ diff: HeapDiff, _ options: ReportTextOptions) {
    self.diff = diff
    self.options = options
  }

  func write(to html: inout HTML) {
    html.element("section", ["class": "findings", "id": "growth"]) { html in
      html.heading("What grew", count: Quantity.of(diff.growth.count, "container"))
      html.line()
      if diff.growth.isEmpty { html.element("p", text: "Nothing grew.") }
      let most = diff.growth.map(\.after.bytes).max() ?? 0
      for (number, growth) in diff.growth.enumerated() { article(growth, number, most: most, &html) }
    }
    html.line()
  }

  private func article(_ growth: HeapDiff.Growth, _ number: Int, most: Int, _ html: inout HTML) {
    html.element("article", ["class": "finding", "id": "growth-\(number + 1)", "tabindex": "-1"]) { html in
      html.element("details", ["open": number < ReportPage.unfolded / 2 ? "" : nil]) { html in
        html.element("summary") { html in
          html.element("span", ["class": "badge bad"], text: Change.bytes(growth.bytes))
          html.element("span", ["class": "heading", "role": "heading", "aria-level": "3"]) { html in
            ReportFindings.marked(Change.place(type: growth.containerType, field: growth.field), &html)
          }
          html.element("span", ["class": "figures"], text: figures(growth))
        }
        html.line()
        html.element("div", ["class": "body"]) { body(growth, most: most, &$0) }
      }
    }
    html.line()
  }

  private func figures(_ growth: HeapDiff.Growth) -> String {
    let type = Number.readable(growth.type) + (growth.module.map { " (\($0))" } ?? "")
    if let elements = growth.elements {
      return "\(type) of \(Quantity.grouped(elements.before)) \u{2192} \(Quantity.grouped(elements.after)) elements"
    }
    return growth.count > 0
      ? "\(Change.signed(growth.count)) \(type)" : "\(Quantity.grouped(growth.after.count)) \(type) as before"
  }

  private func body(_ growth: HeapDiff.Growth, most: Int, _ html: inout HTML) {
    bars(growth, most: most, &html)
    html.element("dl", ["class": "facts"]) { html in
      row("Objects", "\(Quantity.grouped(growth.before.count)) \u{2192} \(Quantity.grouped(growth.after.count))", &html)
      row("Bytes", "\(Quantity.bytes(growth.before.bytes)) \u{2192} \(Quantity.bytes(growth.after.bytes))", &html)
      if let turnover = growth.turnover, growth.elements == nil {
        row("Turnover", "\(Quantity.grouped(turnover.came)) came, \(Quantity.grouped(turnover.went)) went", &html)
      }
      if !growth.with.isEmpty {
        html.element("dt", text: "With them")
        html.element("dd") { html in
          for type in growth.with {
            html.element("span", ["class": "with"]) { html in
              if type.count != 0 { html.text("\(Change.signed(type.count)) ") }
              html.element("span", ["class": "type"], text: Number.readable(type.type))
              html.text(" \(Quantity.bytes(type.bytes))")
            }
          }
        }
      }
    }
    html.line()
    if let path = Chain(retainPath: growth.retainPath) {
      html.element("h4", text: "What keeps them")
      StackView.chain(path, options, &html)
    }
    for (number, site) in growth.sites.enumerated() {
      if number == 0 { html.element("h4", text: "Where they were allocated") }
      self.site(site, &html)
    }
  }

  private func row(_ name: String, _ text: String, _ html: inout HTML) {
    html.element("dt", text: name)
    html.element("dd", text: text)
  }

  private func bars(_ growth: HeapDiff.Growth, most: Int, _ html: inout HTML) {
    html.element("div", ["class": "before-after", "aria-hidden": "true"]) { html in
      for (name, amount) in [("before", growth.before), ("after", growth.after)] {
        let share = most > 0 ? Double(max(0, amount.bytes)) / Double(most) * 100 : 0
        html.element("span", ["class": name, "style": "width:\(Percent.text(share))%"])
      }
    }
    html.line()
  }

  private func site(_ site: HeapDiff.Site, _ html: inout HTML) {
    let frames = site.allocation.frames
    html.element("details", ["class": "stack"]) { html in
      html.element("summary") { html in
        let change = site.after.count.minus(site.before.count)
        if change != 0 { html.text("\(Change.signed(change)) ") }
        if let frame = site.allocation.site {
          StackView.site(frame, options, &html)
        } else {
          html.text("not recorded")
        }
      }
      StackView.telling(frames, options, &html)
    }
    html.line()
  }
}

/// The table of all types that changed.
struct GrowthTypes {
  private let diff: HeapDiff
  /// More rows nobody reads; JSON has them all.
  private static let limit = 1000

  init(_ diff: HeapDiff) {
    self.diff = diff
  }

  func write(to html: inout HTML) {
    guard !diff.types.isEmpty else { return }
    html.element("section", ["id": "types"]) { html in
      html.heading("Types that changed", count: Quantity.grouped(diff.types.count))
      let numbers = ["Before", "After", "Change", "Bytes before", "Bytes after", "Change of bytes"]
      html.table(
        ["class": "sortable searched"], columns: [("Type", false)] + numbers.map { ($0, true) },
        diff.types.prefix(Self.limit), cells: cells)
      let hidden = diff.types.count - Self.limit
      if hidden > 0 { html.element("p", ["class": "more"], text: "and \(Quantity.of(hidden, "more type"))") }
    }
    html.line()
  }

  private func cells(_ type: HeapDiff.TypeChange, _ html: inout HTML) {
    html.element("td") { html in
      html.element("span", ["class": "type"], text: type.type + (type.module.map { " (\($0))" } ?? ""))
    }
    let (old, new) = (type.before, type.after)
    number(old.count, Quantity.grouped(old.count), &html)
    number(new.count, Quantity.grouped(new.count), &html)
    number(new.count.minus(old.count), Change.signed(new.count.minus(old.count)), change: true, &html)
    number(old.bytes, Quantity.bytes(old.bytes), &html)
    number(new.bytes, Quantity.bytes(new.bytes), &html)
    number(new.bytes.minus(old.bytes), Change.bytes(new.bytes.minus(old.bytes)), change: true, &html)
  }

  private func number(_ value: Int, _ text: String, change: Bool = false, _ html: inout HTML) {
    let style = change ? value > 0 ? "number more-of" : value < 0 ? "number less-of" : "number" : "number"
    html.number(String(value), text: text, style: style)
  }
}
