import UndeadHeap
import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What a watch found, as JSON: the same bytes for the same findings.
package enum GrowthJSON {
  /// The whole report, with a newline at the end.
  ///
  /// - Parameters:
  ///   - findings: what grew.
  ///   - origins: who holds what grew, and where it was allocated.
  ///   - notes: sentences on what is not in it.
  package static func render(
    _ findings: GrowthFindings, _ origins: GrowthOrigins, notes: [String] = []
  ) throws -> Data {
    try JSONRenderer.encode(Report(findings, origins, notes))
  }

  private struct Report: Encodable {
    var schemaVersion = 1
    var kind = "watch"
    var watchedSeconds: Double
    var warmUpSeconds: Double
    var censuses: Int
    var longestPauseMilliseconds: Double
    var longestCensusMilliseconds: Double
    /// False if there were too few censuses to say anything.
    var judged: Bool
    var types: [Growth]
    var all: Growth?
    /// Its counts are 0.
    var resident: Growth?
    /// Their bytes are 0.
    var descriptors: Growth?
    var threads: Growth?
    var brokenRules: [Rule]
    var notes: [String]

    init(_ findings: GrowthFindings, _ origins: GrowthOrigins, _ notes: [String]) {
      watchedSeconds = Self.rounded(findings.watched)
      warmUpSeconds = Self.rounded(findings.warmUp)
      censuses = findings.censuses
      longestPauseMilliseconds = Self.rounded(findings.longestPause * 1000)
      longestCensusMilliseconds = Self.rounded(findings.longestCensus * 1000)
      judged = findings.isJudged
      types = findings.types.map { Growth($0, origins.origins[$0.name]) }
      all = findings.all.map { Growth($0, nil) }
      resident = findings.resident.map { Growth($0, nil) }
      descriptors = findings.descriptors.map { Growth($0, nil) }
      threads = findings.threads.map { Growth($0, nil) }
      brokenRules = findings.broken.map { Rule(rule: $0.text, types: $0.types) }
      self.notes = notes
    }

    /// To thousandths.
    static func rounded(_ number: Double) -> Double { (number * 1000).rounded() / 1000 }
  }

  private struct Rule: Encodable {
    var rule: String
    var types: [String]
  }

  private struct Growth: Encodable {
    var type: String
    var count: Int
    var bytes: Int
    var countPerHour: Rate
    var bytesPerHour: Rate
    var containers: [Place]?
    var sites: [Place]?

    init(_ growth: TypeGrowth, _ origin: GrowthOrigins.Origin?) {
      type = growth.name
      count = Int(clamping: growth.now.count)
      bytes = Int(clamping: growth.now.bytes)
      countPerHour = Rate(growth.count, growth.countGrows)
      bytesPerHour = Rate(growth.bytes, growth.bytesGrow)
      containers = origin?.containers.map { Place(name: $0.text, count: $0.count) }
      sites = origin?.sites.map { Place(name: $0.text, count: $0.count) }
    }
  }

  private struct Place: Encodable {
    var name: String
    var count: Int
  }

  /// A slope, and the bounds of its interval where it has any.
  private struct Rate: Encodable {
    var slope: Double
    var low: Double?
    var high: Double?
    var grows: Bool

    init(_ trend: Trend, _ grows: Bool) {
      func perHour(_ slope: Double) -> Double? { slope.isFinite ? Report.rounded(slope * 3600) : nil }
      slope = perHour(trend.slope) ?? 0
      low = perHour(trend.interval.lowerBound)
      high = perHour(trend.interval.upperBound)
      self.grows = grows
    }
  }
}
