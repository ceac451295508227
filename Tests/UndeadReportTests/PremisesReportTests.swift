import Foundation
import Testing

@testable import UndeadReport

/// What a process found of the facts that its answer rests on.
@Suite struct PremisesReportTests {
  private func report(checked: Int, failed: [String] = [], isComplete: Bool = true) -> LeakReport {
    var snapshot = SyntheticHeap().built
    snapshot.setMetadata("premises", "\(checked)")
    snapshot.metadata += failed.map { Snapshot.MetadataEntry(key: "premiseFailed", value: $0) }
    snapshot.isComplete = isComplete
    return LeakReport(
      analyzing: [ReportInput(snapshot)], options: ReportOptions(), tool: .init(name: "undead", version: "1"))
  }

  @Test func areInTheReport() throws {
    #expect(report(checked: 140).summary.premises == .init(checked: 140))
    let failed = report(checked: 140, failed: ["no answer about leaks: a fact"], isComplete: false)
    #expect(failed.summary.premises == .init(checked: 140, failed: ["no answer about leaks: a fact"]))
    let read = try JSONDecoder().decode(LeakReport.self, from: JSONEncoder().encode(failed))
    #expect(read.summary.premises == failed.summary.premises)
    #expect(failed.summary.premises?.zombiesMayBeMissed == false)
    let zombies = report(checked: 140, failed: ["uses of dead objects may be missed: a fact"])
    #expect(zombies.summary.premises?.zombiesMayBeMissed == true)
  }
}
