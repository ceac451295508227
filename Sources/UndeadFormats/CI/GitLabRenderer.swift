import UndeadReport
import UndeadSystem

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Writes a report as GitLab's Code Quality reads it, which shows the findings in a merge request.
package enum GitLabRenderer {
  private struct Issue: Encodable {
    var description: String
    var checkName: String
    var fingerprint: String
    var severity: String
    var location: Location

    private enum CodingKeys: String, CodingKey {
      case description, fingerprint, severity, location
      case checkName = "check_name"
    }
  }

  private struct Location: Encodable {
    var path: String
    var lines: Lines
  }

  private struct Lines: Encodable {
    var begin: Int
  }

  /// An array of issues, the most important first.
  ///
  /// - Parameters:
  ///   - report: what was found.
  ///   - options: `directory` is the root of the repository, which GitLab wants paths relative to.
  package static func render(_ report: LeakReport, options: ReportTextOptions = ReportTextOptions()) throws -> Data {
    // GitLab shows no issue without a file.
    let program = SymbolText.fileName(report.process.path)
    let issues = RankedFinding.all(of: report, options).map { finding in
      Issue(
        description: description(finding), checkName: finding.kind == "zombie" ? "zombie" : finding.cause,
        fingerprint: finding.signature, severity: severity(finding),
        location: Location(
          path: VisibleText.line(finding.place?.file ?? (program.isEmpty ? "unknown" : program)),
          lines: Lines(begin: finding.place?.line ?? 1)))
    }
    return try JSONRenderer.encode(issues)
  }

  private static func description(_ finding: RankedFinding) -> String {
    let size = finding.size.isEmpty ? "" : " (\(finding.size))"
    return VisibleText.line(finding.heading + size + (finding.advice.map { ". \($0)" } ?? ""))
  }

  private static func severity(_ finding: RankedFinding) -> String {
    switch finding.kind {
    case "zombie": "critical"
    case "leak": "major"
    default: "minor"
    }
  }
}
