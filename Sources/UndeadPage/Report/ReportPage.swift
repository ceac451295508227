import UndeadReport
import UndeadSystem

/// Writes a leak report as one page that needs nothing else: no network, no other file, and no script to be read.
package enum ReportPage {
  /// Findings of a kind that are unfolded from the start.
  static let unfolded = 20

  /// The page as HTML; the same text for the same report and options.
  ///
  /// - Parameters:
  ///   - options: `directory` shortens the paths of files, `stacks` says whether there are backtraces.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) -> String {
    var plain = options
    plain.color = false
    let program = SymbolText.fileName(report.process.path)
    let page = Page(
      title:
        "\(program.isEmpty ? "report" : program): \(Verdict(report).text) \u{2013} \(report.tool.name)",
      subject: subject(report.process), tool: report.tool, search: "Search findings")
    let entries = Entries(report)
    return page.document { html in
      html.element("main", ["class": "report"]) { html in
        html.line()
        ReportOverview(report, plain, entries).write(to: &html)
        ReportFindings(plain, entries).write(to: &html)
        ReportRest(report, plain).write(to: &html)
      }
      html.line()
    }
  }

  static func subject(_ process: LeakReport.Process) -> String {
    var parts: [String] = []
    if !process.path.isEmpty { parts.append(SymbolText.fileName(process.path)) }
    if process.pid > 0 { parts.append("process \(process.pid)") }
    if let status = process.exitStatus { parts.append("exit status \(status)") }
    if let signal = process.signal { parts.append("ended by signal \(signal)") }
    if !process.startedAt.isEmpty {
      let time = process.startedAt.prefix { $0 != "." && $0 != "Z" }.replacing("T", with: " ")
      parts.append("started \(time) UTC")
    }
    return parts.joined(separator: " \u{B7} ")
  }
}
