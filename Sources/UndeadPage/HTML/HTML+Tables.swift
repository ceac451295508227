import UndeadSystem

/// What the sections and tables of all pages have in common.
extension HTML {
  /// The title of a section, and how many there are of what it shows.
  mutating func heading(_ title: String, count: String) {
    element("h2") { html in
      html.text(title)
      html.element("small", text: count)
    }
  }

  /// A table that scrolls.
  ///
  /// - Parameters:
  ///   - attributes: of the table.
  ///   - id: of what scrolls.
  ///   - columns: their names; numbers stand at the right.
  ///   - finding: the id of the finding that a row stands for.
  ///   - cells: writes the cells of a row.
  mutating func table<Rows: Sequence>(
    _ attributes: Attributes = ["class": "sortable"], id: String? = nil, caption: String? = nil,
    columns: [(name: String, isNumber: Bool)], _ rows: Rows, finding: (Rows.Element) -> String? = { _ in nil },
    cells: (Rows.Element, inout HTML) -> Void
  ) {
    element("div", ["class": "scroll", "id": id]) { html in
      html.element("table", attributes) { html in
        if let caption { html.element("caption", text: caption) }
        html.element("thead") { html in
          html.element("tr") { html in
            for column in columns {
              html.element("th", ["scope": "col", "class": column.isNumber ? "number" : nil], text: column.name)
            }
          }
        }
        html.line()
        html.element("tbody") { html in
          html.line()
          for row in rows {
            html.element("tr", ["data-for": finding(row)]) { cells(row, &$0) }
            html.line()
          }
        }
      }
    }
  }

  /// A cell with a number, by which the script sorts.
  mutating func number(_ value: String, text: String, style: String = "number") {
    element("td", ["class": style, "data-value": value], text: text)
  }
}
