import ArgumentParser

/// A form that a report can have.
enum ReportFormat: String, ExpressibleByArgument, CaseIterable {
  case text, json, html, sarif, junit, github, gitlab, markdown, dot, pprof
}

/// A report that is written beside the main one, as `FORMAT=FILE` asks for it.
struct FurtherReport: ExpressibleByArgument, Equatable {
  var format: ReportFormat
  var file: String

  init?(argument: String) {
    let parts = argument.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let format = ReportFormat(rawValue: parts[0]) else { return nil }
    self.format = format
    file = parts[1]
  }
}
