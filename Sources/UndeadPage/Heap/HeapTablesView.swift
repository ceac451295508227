import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// The tables of a heap's page, as they are without a script.
struct HeapTablesView {
  private let heap: LoadedHeap
  private var tables: HeapTables
  private let names: FrameNames
  let options: ReportTextOptions
  private let total: UInt64

  /// Rows of a table that stand in the page itself; the script shows the others.
  private static let typeRows = 100
  static let rows = 40
  private static let treeDepth = 4
  private static let treeShare = 0.005

  init(_ heap: LoadedHeap, _ tables: HeapTables, _ names: FrameNames, _ options: ReportTextOptions) {
    self.heap = heap
    self.tables = tables
    self.names = names
    self.options = options
    total = heap.dominators.retained[heap.dominators.nodes.top]
  }

  func write(types: [HeapRow], tree: FoldedTree, _ work: HeapWork, to html: inout HTML) {
    var copy = self
    copy.dominators(tree, &html)
    copy.types(types, &html)
    copy.sites(&html)
    tasks(work.tasks, &html)
    descriptors(work.descriptors, &html)
    copy.others(&html)
  }

  // MARK: Who keeps it

  private func dominators(_ tree: FoldedTree, _ html: inout HTML) {
    html.element("section", ["id": "retained"]) { html in
      html.element("h2", text: "Who keeps the memory")
      html.element(
        "p", ["class": "hint"],
        text:
          "Each part is as wide as what would be freed if it went, and stands below what keeps it.")
      html.element("div", ["id": "icicle", "class": "script"])
      html.line()
      var children = [[Int]](repeating: [], count: tree.nodes.count)
      for (number, node) in tree.nodes.enumerated() where node.parent >= 0 {
        children[node.parent].append(number)
      }
      html.element("details", ["class": "tree", "open": ""]) { html in
        html.element("summary", text: "As a list")
        list(0, tree, children, depth: 0, &html)
      }
    }
    html.line()
  }

  private func list(
    _ node: Int, _ tree: FoldedTree, _ children: [[Int]], depth: Int, _ html: inout HTML
  ) {
    let shown = children[node].filter {
      Double(tree.nodes[$0].retained) >= Double(total) * Self.treeShare
    }
    guard !shown.isEmpty, depth < Self.treeDepth else { return }
    html.element("ul") { html in
      for child in shown {
        let entry = tree.nodes[child]
        html.element("li") { html in
          html.element(
            "b", ["class": "number"], text: Quantity.bytes(Int(clamping: entry.retained)))
          html.element("small", text: Percent.of(entry.retained, total))
          html.text(" ")
          if !entry.field.isEmpty {
            html.element("span", ["class": "field"], text: Names.field(entry.field))
            html.text(" ")
          }
          if entry.count > 1 { html.text("\(Quantity.grouped(entry.count)) \u{D7} ") }
          html.element(
            "span", ["class": entry.isRoot || entry.isRest ? "root" : "type"], text: entry.name)
          list(child, tree, children, depth: depth + 1, &html)
        }
        html.line()
      }
    }
  }

  // MARK: Tables

  func count(_ value: Int, _ html: inout HTML) {
    html.number(String(max(value, 0)), text: Quantity.grouped(value))
  }

  func bytes(_ value: UInt64, _ html: inout HTML) {
    html.number(String(value), text: Quantity.bytes(Int(clamping: value)))
  }

  private func types(_ rows: [HeapRow], _ html: inout HTML) {
    html.element("section", ["id": "types"]) { html in
      html.heading("Types", count: Quantity.grouped(rows.count))
      html.element("div", ["class": "table-and-detail"]) { html in
        html.table(
          [:], id: "type-table",
          columns: [("Type", false), ("Count", true), ("Bytes", true), ("Retained", true), ("", true)],
          rows.prefix(Self.typeRows), cells: type)
        html.element(
          "aside", ["id": "detail", "class": "script", "aria-label": "Details of a type"])
      }
      let hidden = rows.count - Self.typeRows
      if hidden > 0 {
        html.element("p", ["class": "more no-script"], text: "and \(Quantity.of(hidden, "more type"))")
      }
    }
    html.line()
  }

  private func type(_ row: HeapRow, _ html: inout HTML) {
    html.element("td") { html in
      html.element("span", ["class": "type"], text: row.name + (row.module.map { " (\($0))" } ?? ""))
    }
    count(row.count, &html)
    bytes(row.bytes, &html)
    bytes(row.retained, &html)
    html.element("td", ["class": "number share"], text: Percent.of(row.retained, total))
  }

  private mutating func sites(_ html: inout HTML) {
    let rows = tables.sites()
    let all = rows.prefix(Self.rows).map { row in (row: row, frames: names.backtrace(row.stack).frames) }
    var shown = all.filter { !$0.frames.isEmpty }.map { row, frames in
      (type: row.type + (row.module.map { " (\($0))" } ?? ""), count: row.count, bytes: row.bytes, frames: frames)
    }
    let unknown = all.filter(\.frames.isEmpty).map(\.row)
    if !unknown.isEmpty {
      shown.append(
        (Quantity.of(unknown.count, "type"), unknown.total(\.count), unknown.reduce(0) { $0 + $1.bytes }, []))
    }
    html.element("section", ["id": "sites"]) { html in
      html.heading("Where it was allocated", count: Quantity.grouped(rows.count))
      html.table(columns: [("Type", false), ("Count", true), ("Bytes", true), ("Where", false)], shown) { row, html in
        html.element("td") { $0.element("span", ["class": "type"], text: row.type) }
        count(row.count, &html)
        bytes(row.bytes, &html)
        html.element("td", ["class": "where"]) { site(row.frames, &$0) }
      }
    }
    html.line()
  }

  func site(_ frames: [Frame], _ html: inout HTML) {
    guard let frame = Backtrace(frames: frames).site else {
      return html.text("unknown")
    }
    html.element("details", ["class": "stack"]) { html in
      html.element("summary") { StackView.site(frame, options, &$0) }
      StackView.telling(frames, options, &html)
    }
  }

  // MARK: Roots, modules, generations

  private mutating func others(_ html: inout HTML) {
    let roots = tables.roots().filter { $0.retained > 0 }
    let modules = tables.modulesTable()
    let generations = tables.generations()
    html.element("div", ["class": "columns"]) { html in
      html.element("section", ["id": "roots"]) { html in
        html.heading("Roots", count: Quantity.grouped(roots.count))
        table(
          "Root",
          roots.map {
            ("\($0.kind) \($0.name == $0.kind ? "" : $0.name)", $0.count, nil, $0.retained)
          }, &html)
      }
      html.element("section", ["id": "modules"]) { html in
        html.heading("Modules", count: Quantity.grouped(modules.count))
        table("Module", modules.map { ($0.name, $0.count, $0.bytes, $0.retained) }, &html)
      }
      if generations.count > 1 {
        html.element("section", ["id": "generations"]) { html in
          html.element("h2", text: "Generations")
          table("Born", generations.map { ($0.name, $0.count, $0.bytes, $0.retained) }, &html)
        }
      }
    }
    html.line()
  }

  private func table(
    _ title: String, _ rows: [(name: String, count: Int, bytes: UInt64?, retained: UInt64)],
    _ html: inout HTML
  ) {
    var columns = [(title, false), ("Count", true)]
    if rows.contains(where: { $0.bytes != nil }) { columns.append(("Bytes", true)) }
    columns.append(("Retained", true))
    html.table(columns: columns, rows.prefix(Self.rows)) { row, html in
      html.element("td", text: row.name)
      count(row.count, &html)
      if let value = row.bytes { bytes(value, &html) }
      bytes(row.retained, &html)
    }
  }
}
