import Foundation
import Testing

@testable import UndeadFormats
@testable import UndeadReport

/// Reports of many hosts as one.
@Suite struct MergedReportTests {
  private func leak(_ signature: String, _ type: String, count: Int, bytes: Int) -> Leak {
    Leak(
      signature: signature, kind: .retainCycle, count: count, objectCount: count, totalBytes: bytes,
      objects: [LeakedObject(type: type, address: "0x10", size: 48)],
      allocation: Backtrace(frames: [Frame(symbol: "App.make()", file: "/app/a.swift", line: 3, module: "App")]))
  }

  private func report(
    pid: Int = 1, _ leaks: [Leak] = [], suspects: [Suspect] = [], known: [Leak] = [], complete: Bool = true,
    notes: [String] = []
  ) -> LeakReport {
    var report = LeakReport(
      process: .init(path: "/app/App", pid: pid, startedAt: "2026-01-01T00:00:0\(pid % 10)Z", durationSeconds: 5),
      leaks: leaks, suspects: suspects, knownLeaks: known)
    report.summary.complete = complete
    report.summary.notes = notes
    report.updateCounts()
    return report
  }

  private var inputs: [HostInput<LeakReport>] {
    let object = LeakedObject(type: "App.Poller", address: "0x10", size: 48)
    return [
      .init(host: "web-1", file: "1.json", value: report(pid: 1, [leak("a", "App.A", count: 2, bytes: 100)])),
      .init(
        host: "web-2", file: "2.json",
        value: report(
          pid: 2, [leak("a", "App.A", count: 10, bytes: 500), leak("b", "App.B", count: 1, bytes: 8)],
          known: [leak("k", "Foundation.X", count: 3, bytes: 9)], notes: ["one", "both"])),
      .init(
        host: "web-3", file: "3.json",
        value: report(
          pid: 3, suspects: [Suspect(kind: .timer, signature: "s", count: 4, totalBytes: 64, objects: [object])],
          notes: ["both"])),
    ]
  }

  @Test func countsAreSummedAndHostsCounted() throws {
    let merged = MergedReport(inputs)
    #expect(merged.hosts.map(\.name) == ["web-1", "web-2", "web-3"])
    #expect(merged.report.leaks.map(\.signature) == ["a", "b"])
    #expect(merged.report.leaks[0].count == 12 && merged.report.leaks[0].totalBytes == 600)
    #expect(merged.report.summary.leaks == 2 && merged.report.summary.leakedObjects == 13)
    #expect(merged.report.knownLeaks.map(\.count) == [3] && merged.report.suspects.map(\.count) == [4])
    #expect(merged.groups.map(\.signature) == ["a", "b", "s", "k"])
    let a = merged.groups[0]
    #expect(a.hosts == 2 && a.hostNames == ["web-1", "web-2"] && a.list == .leaks)
    #expect((a.count.total, a.count.min, a.count.median, a.count.max) == (12, 0, 2, 10))
    #expect(merged.report.process.path == "/app/App" && merged.report.process.startedAt == "2026-01-01T00:00:01Z")
    #expect(merged.report.summary.notes == ["on web-2: one", "on web-2, web-3: both"])
  }

  @Test func anyOrderGivesTheSame() throws {
    let expected = try JSONRenderer.encode(MergedReport(inputs))
    for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
      #expect(try JSONRenderer.encode(MergedReport(order.map { inputs[$0] })) == expected)
    }
    #expect(try JSONDecoder().decode(MergedReport.self, from: expected) == MergedReport(inputs))
  }

  @Test func whatIsThereTwiceCountsOnce() {
    let twice = inputs + [.init(host: "web-9", file: "copy.json", value: inputs[0].value)]
    let merged = MergedReport(twice)
    #expect(merged.report.leaks[0].count == 12 && merged.hosts.count == 3)
    #expect(merged.report.summary.notes.first == "'copy.json' is the same as '1.json', and counts once")
  }

  @Test func filesOfOneHost() {
    let shards = [
      HostInput(host: "ci", file: "1.json", value: report(pid: 1, [leak("a", "App.A", count: 2, bytes: 1)])),
      HostInput(host: "ci", file: "2.json", value: report(pid: 1, [leak("a", "App.A", count: 5, bytes: 1)])),
    ]
    let merged = MergedReport(shards)
    #expect(merged.hosts == [MergedHost(name: "ci", files: ["1.json", "2.json"])])
    #expect(merged.groups[0].hosts == 1 && merged.groups[0].count.max == 7)
    #expect(merged.report.summary.notes.contains { $0.hasPrefix("'1.json' and '2.json' seem to be of one process") })
  }

  @Test func suppressionsAndSmallGroups() throws {
    var options = ReportOptions(minCount: 2)
    try options.suppressions.add("type:App.A # known", file: "s")
    let merged = MergedReport(inputs, options: options)
    #expect(merged.report.leaks.isEmpty && merged.report.summary.suppressed == 1)
    #expect(merged.groups.map(\.signature) == ["s", "k"])
  }

  @Test func incompleteChecksAreSaid() {
    let merged = MergedReport(inputs + [.init(host: "x", file: "x", value: report(pid: 7, complete: false))])
    #expect(!merged.report.summary.complete)
  }

  @Test func absurdNumbersDoNotOverflow() {
    let huge = inputs.map { input in
      var input = input
      input.value.leaks = [leak("a", "App.A", count: .max, bytes: .max)]
      input.value.leaks[0].allocationPaths = .max
      input.value.summary.liveBytes = .min
      return input
    }
    let merged = MergedReport(huge)
    #expect(merged.report.leaks[0].count == .max && merged.groups[0].count.total == .max)
    let negative = huge.map { input in
      var input = input
      input.value.leaks[0].count = -5
      return input
    }
    #expect(MergedReport(negative).report.leaks.isEmpty)
  }

  @Test func text() {
    let text = MergedReportText.render(MergedReport(inputs))
    #expect(text.hasPrefix("3 hosts\n\n     total   hosts      min   median      max  group\n"), "\(text)")
    #expect(
      text.contains("        12     2/3        0        2       10  leak of App.A  [a]  (web-1, web-2)\n"), "\(text)")
    #expect(text.contains("         4     1/3        0        0        4  suspect of App.Poller  [s]  (web-3)\n"))
    #expect(text.hasSuffix("undead: 2 leaks (13 objects, 608 bytes), 1 suspect, 1 known\n"), "\(text)")
  }

  /// Reports of single findings, as `--on-finding` gives them: the same use on two hosts is one group.
  @Test func zombiesOfAFleet() throws {
    func found(_ pid: Int, _ signature: String, _ address: String, race: Bool? = nil) -> LeakReport {
      var report = report(pid: pid, complete: false)
      report.zombies = [
        Zombie(
          kind: "field", type: "App.Session", message: "read of Session.bytes of freed App.Session \(address)",
          address: address, thread: race == true ? "worker" : "main", signature: signature, member: "Session.bytes",
          operation: "read", sampled: true, race: race, details: race == true ? "race: freed elsewhere" : nil,
          access: Backtrace(frames: [Frame(symbol: "App.send()", file: "/app/a.swift", line: 9, module: "App")]))
      ]
      report.updateCounts()
      return report
    }
    let merged = MergedReport([
      .init(host: "web-1", file: "1.json", value: found(1, "z", "0x10")),
      .init(host: "web-1", file: "2.json", value: found(1, "y", "0x20")),
      .init(host: "web-2", file: "3.json", value: found(2, "z", "0x30", race: true)),
    ])
    #expect(
      merged.groups.map { [$0.signature, "\($0.hosts)", "\($0.count.total)"] } == [["z", "2", "2"], ["y", "1", "1"]])
    #expect(merged.report.summary.notes.isEmpty && merged.report.summary.zombies == 2)
    // What was seen on one host holds for all.
    let zombie = try #require(merged.report.zombies.first)
    #expect(zombie.race == true && zombie.sampled == true && zombie.thread == "worker")
    #expect(zombie.details == "race: freed elsewhere" && merged.report.zombies[1].race == nil)
    let text = MergedReportText.render(merged)
    #expect(text.contains("2     2/2        1        1        1  zombie (read of Session.bytes) of App.Session  [z]\n"))
    let sarif = String(
      decoding: try SARIFRenderer.render(merged.report, hosts: merged.hostCounts), as: UTF8.self)
    #expect(sarif.contains("\"hosts\" : 2") && sarif.contains("\"hosts\" : 1"))
    #expect(
      sarif.split(separator: "\"race\" : true").count == 2 && sarif.split(separator: "\"sampled\" : true").count == 3)
  }

  @Test func spreadOfNothing() {
    #expect(HostValues([], hosts: 0) == HostValues([0], hosts: 1))
    let values = HostValues([4, 1, 3, 2], hosts: 4)
    #expect((values.total, values.min, values.median, values.max) == (10, 1, 2, 4))
  }
}
