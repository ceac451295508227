import UndeadFormats
import UndeadPage
import UndeadProfile
import UndeadReport

/// A form that a report can have.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, html, sarif, junit, github, gitlab, markdown, dot, pprof

  /// What the help says of it.
  private var purpose: String? {
    switch self {
    case .text, .json: nil
    case .html: "one page that needs nothing else"
    case .sarif: "for code scanning and editors"
    case .junit: "XML for CI systems"
    case .github: "annotations of GitHub Actions, at most ten"
    case .gitlab: "Code Quality"
    case .markdown: "a summary"
    case .dot: "cycles and paths for Graphviz"
    case .pprof: "a profile of what leaked"
    }
  }

  /// All of them, for the help.
  static let list = allCases.map(\.rawValue).joined(separator: ", ")
  static let explainedList =
    allCases.map { $0.rawValue + ($0.purpose.map { " (\($0))" } ?? "") }.joined(separator: ", ")
}

extension ReportPipeline {
  /// - Parameter hosts: of merged reports, how many hosts have a finding, by its signature.
  func write(
    _ report: LeakReport, as format: ReportFormat, to sink: OutputSink, hosts: [String: Int] = [:]
  ) throws(ToolError) {
    switch format {
    case .junit: try sink.write(JUnitRenderer.render(report, options: repositoryOptions).utf8)
    case .dot: try sink.write(ReportDot.render(report, options: textOptions(sink)).utf8)
    case .pprof: try sink.writeProfile { ReportProfile.render(report) }
    case .html: try sink.write(ReportPage.render(report, options: textOptions(sink)).utf8)
    case .markdown: try sink.write(MarkdownRenderer.render(report, options: repositoryOptions).utf8)
    case .github: try sink.write(GitHubRenderer.render(report, options: repositoryOptions).utf8)
    case .text: try sink.write(TextRenderer.render(report, options: textOptions(sink)).utf8)
    case .json: try sink.writeJSON { try JSONRenderer.render(report) }
    case .sarif: try sink.writeJSON { try SARIFRenderer.render(report, options: repositoryOptions, hosts: hosts) }
    case .gitlab: try sink.writeJSON { try GitLabRenderer.render(report, options: repositoryOptions) }
    }
  }
}

/// A report that is written beside the main one, as `FORMAT=FILE` asks for it.
struct FurtherReport: ExpressibleByArgument, Equatable {
  var format: ReportFormat
  var file: String

  init(argument: String) throws {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let format = ReportFormat(rawValue: parts[0]) else { throw ValidationError("") }
    self.format = format
    file = parts[1]
  }
}
