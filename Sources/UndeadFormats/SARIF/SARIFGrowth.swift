import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension SARIFRenderer {
  /// What grew in one container, as the renderer of heaps shows it.
  package struct Growth {
    /// The first one says what happened.
    var lines: [TextLine]
    var container: String
    var field: String
    var type: String
    var count: Int
    var bytes: Int
    var retainPath: [PathStep]
    /// Those who allocated most first.
    var allocations: [Backtrace]

    /// - Parameters:
    ///   - container: type of the object that has the field, or the root.
    ///   - type: type of the objects.
    package init(
      lines: [TextLine], type container: String, field: String, of type: String, count: Int, bytes: Int,
      retainPath: [PathStep], allocations: [Backtrace]
    ) {
      self.lines = lines
      self.container = container
      self.field = field
      self.type = type
      self.count = count
      self.bytes = bytes
      self.retainPath = retainPath
      self.allocations = allocations
    }
  }

  /// A log of what grew and of the leaks that are new.
  package static func render(
    _ growth: [Growth], newLeaks: [Leak], of process: LeakReport.Process, tool: LeakReport.Tool, notes: [String],
    options: ReportTextOptions
  ) throws -> Data {
    var builder = SARIFBuilder(program: process.path, options)
    for growth in growth { builder.add(growth) }
    for group in Findings.groups(leaks: newLeaks, byCulprit: options.groupsByCulprit) { builder.add(group) }
    var report = LeakReport(tool: tool, process: process, leaks: newLeaks)
    report.updateCounts()
    return try JSONRenderer.encode(builder.log(report, notes: notes))
  }
}
