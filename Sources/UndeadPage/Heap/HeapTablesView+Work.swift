import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// The tables of tasks and of open files.
extension HeapTablesView {
  func tasks(_ groups: [TaskReport.Group], _ html: inout HTML) {
    section(
      "tasks", "Tasks", groups, groups.total(\.count), &html,
      columns: [("Count", true), ("Retained", true), ("State", false), ("Where", false), ("Kept by", false)]
    ) { group, html in
      count(group.count, &html)
      bytes(UInt64(clamping: group.retainedBytes), &html)
      html.element("td") { html in
        html.text(TaskText.role(group) + TaskText.words(group))
        if group.ownerGone, let owner = group.owner {
          html.text("; their owner is gone: ")
          html.element("span", ["class": "type"], text: owner)
        }
      }
      html.element("td", ["class": "where"]) { html in
        if !group.backtrace.frames.isEmpty { site(group.backtrace.frames, &html) }
      }
      path(group.parent == nil && group.state != .running ? group.resumedBy ?? [] : [], &html)
    }
  }

  func descriptors(_ rows: [HeapReport.DescriptorRow], _ html: inout HTML) {
    section(
      "descriptors", "Open files", ResourcesText.grouped(rows, options), rows.count, &html,
      columns: [("Count", true), ("Kind", false), ("Held by", false), ("Allocated in", false), ("Kept by", false)]
    ) { group, html in
      let first = group[0]
      count(group.count, &html)
      html.element("td") { html in
        html.text(first.kind)
        html.element("small", text: ResourcesText.targets(group))
      }
      html.element("td") { html in
        guard let type = first.type else { return html.text("nobody: no object is known to have the number") }
        html.element("span", ["class": "type"], text: type)
        if let field = first.field { html.element("span", ["class": "field"], text: Names.field(field)) }
      }
      html.element("td", ["class": "where"]) { html in
        if !first.allocation.frames.isEmpty { site(first.allocation.frames, &html) }
      }
      path(first.retainPath, &html)
    }
  }

  private func section<Row>(
    _ id: String, _ title: String, _ rows: [Row], _ count: Int, _ html: inout HTML,
    columns: [(name: String, isNumber: Bool)], cells: (Row, inout HTML) -> Void
  ) {
    guard !rows.isEmpty else { return }
    html.element("section", ["id": id]) { html in
      html.heading(title, count: Quantity.grouped(count))
      html.table(columns: columns, rows.prefix(Self.rows), cells: cells)
      let hidden = rows.count - Self.rows
      if hidden > 0 { html.element("p", ["class": "more"], text: "and \(Quantity.of(hidden, "more group"))") }
    }
    html.line()
  }

  private func path(_ steps: [LeakReport.PathStep], _ html: inout HTML) {
    html.element("td", ["class": "where"]) { html in
      guard steps.first?.root != nil, let chain = Chain(retainPath: steps) else { return }
      html.element("details", ["class": "stack"]) { html in
        html.element("summary", text: chain.root?.text ?? "")
        StackView.chain(chain, options, &html)
      }
    }
  }
}
