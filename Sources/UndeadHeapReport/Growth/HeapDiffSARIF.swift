import UndeadFormats
import UndeadHeap
import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes what grew between two heaps as a log of SARIF: a warning for each container, the worst first, and the new leaks.
package enum HeapDiffSARIF {
  /// The log, the same bytes for the same comparison and options.
  ///
  /// - Parameters:
  ///   - diff: what grew.
  ///   - options: `directory` is the root of the repository.
  package static func render(_ diff: HeapDiff, options: ReportTextOptions = ReportTextOptions()) throws -> Data {
    var options = options
    options.color = false
    let growth = diff.growth.map { growth in
      SARIFRenderer.Growth(
        lines: HeapDiffText.lines(growth, options), type: growth.containerType, field: growth.field, of: growth.type,
        count: growth.count, bytes: growth.bytes, retainPath: growth.retainPath,
        allocations: growth.sites.map(\.allocation))
    }
    return try SARIFRenderer.render(
      growth, newLeaks: diff.leaks?.new ?? [], of: diff.process, tool: diff.tool, notes: diff.notes, options: options)
  }
}
