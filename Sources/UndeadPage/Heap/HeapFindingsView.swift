import UndeadHeap
import UndeadHeapReport
import UndeadReport
import UndeadSystem

/// What is worth a look in a heap, an article each.
struct HeapFindingsView {
  private let findings: [HeapFinding]
  private let options: ReportTextOptions

  init(_ findings: [HeapFinding], _ options: ReportTextOptions) {
    self.findings = findings
    self.options = options
  }

  func write(to html: inout HTML) {
    guard !findings.isEmpty else { return }
    html.element("section", ["class": "findings", "id": "findings"]) { html in
      html.heading("Worth a look", count: Quantity.grouped(findings.count))
      html.line()
      for (number, finding) in findings.enumerated() { article(finding, number, &html) }
    }
    html.line()
  }

  private func article(_ finding: HeapFinding, _ number: Int, _ html: inout HTML) {
    html.element("article", ["class": "finding", "id": "finding-\(number + 1)", "tabindex": "-1"]) { html in
      html.element("details", ["open": number == 0 ? "" : nil]) { html in
        html.element("summary") { html in
          html.element("span", ["class": "badge doubtful"], text: Quantity.bytes(finding.bytes))
          html.element("span", ["class": "heading", "role": "heading", "aria-level": "3"]) {
            ReportFindings.marked(finding.title, &$0)
          }
          html.element(
            "span", ["class": "figures"],
            text: "\(Quantity.grouped(finding.objects)) \u{D7} \(Number.readable(finding.type))"
              + (finding.usedBytes.map { " kept by \(Quantity.bytes($0))" } ?? ""))
        }
        html.line()
        html.element("div", ["class": "body"]) { body(finding, &$0) }
      }
    }
    html.line()
  }

  private func body(_ finding: HeapFinding, _ html: inout HTML) {
    html.element("p", ["class": "advice"]) { html in
      html.element("b", text: "Advice")
      html.text(" ")
      ReportFindings.marked(finding.advice, &html)
    }
    html.line()
    html.element("dl", ["class": "facts"]) { html in
      if let container = finding.container {
        html.element("dt", text: "In")
        html.element("dd") {
          ReportFindings.marked(Change.place(type: container.type, field: container.field), &$0)
        }
      }
      site("Waits in", finding.suspended, &html)
      site("Closure", finding.closure, &html)
      site("Allocated in", finding.allocation, &html)
    }
    html.line()
    if let path = Chain(retainPath: finding.retainPath) {
      html.element("h4", text: "What keeps it")
      StackView.chain(path, options, &html)
    }
    if let suspended = finding.suspended { StackView.stack(suspended, title: "Where it waits", options, &html) }
    StackView.stack(finding.allocation, title: "Where it was allocated", options, &html)
  }

  private func site(_ name: String, _ backtrace: Backtrace?, _ html: inout HTML) {
    guard let frame = backtrace.flatMap(\.site) else { return }
    html.element("dt", text: name)
    html.element("dd") { StackView.site(frame, options, &$0) }
  }
}
