import UndeadReport

/// Writes what leaked as a profile that pprof and its relatives read, by the stacks of the allocations.
package enum ReportProfile {
  /// The bytes of the profile, before ``Gzip`` compresses them.
  ///
  /// A sample for each group of leaks and suspects. Of the stacks of a group one is known, which stands for all.
  package static func render(_ report: LeakReport) -> [UInt8] {
    var builder = ProfileBuilder()
    for leak in report.leaks {
      add(
        leak.allocation, type: leak.objects.first?.type, kind: leak.kind.rawValue, signature: leak.signature,
        count: leak.objectCount, bytes: leak.totalBytes, &builder)
    }
    for suspect in report.suspects {
      add(
        suspect.allocation, type: suspect.objects.first?.type, kind: suspect.kind.rawValue,
        signature: suspect.signature, count: suspect.count, bytes: suspect.totalBytes, &builder)
    }
    builder.comment("\(report.tool.name) \(report.tool.version): leaks and suspects of \(report.process.path)")
    builder.setTimes(seconds: 0, duration: report.process.durationSeconds)
    return builder.serialized()
  }

  private static func add(
    _ allocation: Backtrace, type: String?, kind: String, signature: String, count: Int, bytes: Int,
    _ builder: inout ProfileBuilder
  ) {
    let locations = allocation.frames.map { builder.location(of: $0) }
    var labels: ProfileBuilder.Labels = ["type": type ?? "object", "kind": kind, "signature": signature]
    if let module = allocation.site?.module, !module.isEmpty { labels["module"] = module }
    builder.add(locations, labels, count: Int64(count), bytes: Int64(bytes))
  }
}
