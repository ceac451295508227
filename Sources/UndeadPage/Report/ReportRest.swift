import UndeadReport
import UndeadSystem

/// What stands below the findings: diagnostics, run loops, known leaks, notes.
struct ReportRest {
  private let report: LeakReport
  private let options: ReportTextOptions

  init(_ report: LeakReport, _ options: ReportTextOptions) {
    self.report = report
    self.options = options
  }

  func write(to html: inout HTML) {
    diagnostics(&html)
    runLoops(&html)
    known(&html)
    notes(&html)
    check(&html)
  }

  private func diagnostics(_ html: inout HTML) {
    guard !report.diagnostics.isEmpty else { return }
    html.element("section", ["class": "findings", "id": "diagnostics"]) { html in
      heading("Diagnostics", report.diagnostics.count, &html)
      for (number, diagnostic) in report.diagnostics.enumerated() {
        html.element(
          "article", ["class": "finding", "id": "diagnostic-\(number + 1)", "tabindex": "-1"]
        ) { html in
          html.element("details", ["open": number < ReportPage.unfolded ? "" : nil]) { html in
            html.element("summary") { html in
              html.element("span", ["class": "badge doubtful"], text: diagnostic.kind)
              html.element(
                "span", ["class": "heading", "role": "heading", "aria-level": "3"],
                text: diagnostic.message)
            }
            html.element("div", ["class": "body"]) { body(diagnostic, &$0) }
          }
        }
        html.line()
      }
    }
    html.line()
  }

  private func body(_ diagnostic: Diagnostic, _ html: inout HTML) {
    if !diagnostic.details.isEmpty {
      html.element("dl", ["class": "facts"]) { html in
        for (key, value) in diagnostic.details.sorted(by: { $0.key < $1.key }) {
          html.element("dt", text: key)
          html.element("dd", text: value)
        }
      }
      html.line()
    }
    if let backtrace = diagnostic.backtrace {
      StackView.stack(backtrace, title: "Where", options, isOpen: true, &html)
    }
    for trace in diagnostic.backtraces ?? [] {
      StackView.stack(Backtrace(frames: trace.frames), title: trace.role, options, &html)
    }
  }

  private func runLoops(_ html: inout HTML) {
    let lines = report.runLoops.map(RunLoopText.statements) ?? []
    guard !lines.isEmpty else { return }
    html.element("section", ["id": "run-loops"]) { html in
      html.element("h2", text: "Run loops")
      html.element("pre", lines: lines)
    }
    html.line()
  }

  private func known(_ html: inout HTML) {
    guard !report.knownLeaks.isEmpty else { return }
    html.element("section", ["id": "known"]) { html in
      heading(
        "Known leaks of the toolchain, which the program cannot help", report.knownLeaks.count,
        &html)
      html.table(
        [:], columns: [("Type", false), ("Times", true), ("Bytes", true), ("Reason", false)], report.knownLeaks
      ) { leak, html in
        html.element("td") { html in
          html.element("span", ["class": "type"], text: leak.objects.first?.type ?? "object")
        }
        html.element("td", ["class": "number"], text: Quantity.grouped(leak.count))
        html.element("td", ["class": "number"], text: Quantity.bytes(leak.totalBytes))
        html.element("td", text: leak.reason ?? "")
      }
    }
    html.line()
  }

  private func notes(_ html: inout HTML) {
    guard !report.summary.notes.isEmpty else { return }
    html.element("section", ["id": "notes"]) { html in
      heading("Notes", report.summary.notes.count, &html)
      html.element("ul") { html in
        for note in NoteFolding.folded(report.summary.notes) {
          html.element("li", text: note)
          html.line()
        }
      }
    }
    html.line()
  }

  private func check(_ html: inout HTML) {
    let summary = report.summary
    guard summary.scanMilliseconds > 0 else { return }
    html.element(
      "p", ["class": "check"],
      text:
        "The check took \(Quantity.duration(summary.scanMilliseconds / 1000)), and the program stood still for "
        + "\(Quantity.duration(summary.pauseMilliseconds / 1000)).")
    html.line()
  }

  private func heading(_ title: String, _ count: Int, _ html: inout HTML) {
    html.heading(title, count: Quantity.grouped(count))
    html.line()
  }
}
