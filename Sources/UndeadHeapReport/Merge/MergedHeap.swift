import UndeadFormats
import UndeadHeap
import UndeadReport

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What is in the memory of many hosts.
///
/// Encodes to the JSON of `Documentation/heap-format.md`, of the kind `mergedHeap`.
package struct MergedHeap: Codable, Sendable, Equatable {
  /// A type, on all hosts.
  package struct TypeRow: Codable, Sendable, Equatable {
    package var type: String
    /// Of C memory: the library that allocated it.
    package var module: String?
    /// How many hosts have it.
    package var hosts: Int
    package var count: HostValues
    package var bytes: HostValues
    package var retainedBytes: HostValues
  }

  /// A number of all hosts.
  package struct Summary: Codable, Sendable, Equatable {
    package var objects: HostValues
    package var objectBytes: HostValues
    package var rawBytes: HostValues
    /// Of the hosts where it is known: a core file does not show.
    package var residentBytes: HostValues
    /// How many hosts these are.
    package var residentHosts: Int
    package var types: Int
    /// False if one of the files was not complete.
    package var complete: Bool
    package var notes: [String]
  }

  /// Of the JSON; keys are only added within a version.
  package var schemaVersion = 1
  package var kind = "mergedHeap"
  package var tool: LeakReport.Tool
  /// By name.
  package var hosts: [MergedHost]
  package var summary: Summary
  /// The most retained bytes on all hosts first.
  package var types: [TypeRow]

  private struct TypeKey: Hashable {
    var type: String
    var module: String?
  }

  /// Merges heaps; the same whatever their order.
  package init(_ heaps: [HostInput<HeapReport>], tool: LeakReport.Tool = LeakReport.Tool()) {
    let inputs = HostInputs(heaps, content: Self.content)
    let hosts = inputs.hosts
    self.tool = tool
    self.hosts = hosts
    var rows: [TypeKey: [String: HeapReport.TypeRow]] = [:]
    for input in inputs.inputs {
      for row in input.value.types {
        rows[TypeKey(type: row.type, module: row.module), default: [:]][input.host, default: Self.nothing(row)].add(row)
      }
    }
    types = rows.map { key, rows in
      func values(_ number: (HeapReport.TypeRow) -> Int) -> HostValues { Self.values(rows.values.map(number), hosts) }
      return TypeRow(
        type: key.type, module: key.module, hosts: rows.count, count: values(\.count), bytes: values(\.bytes),
        retainedBytes: values(\.retainedBytes))
    }.sorted { a, b in
      (b.retainedBytes.total, b.bytes.total, b.count.total, a.type, a.module ?? "")
        < (a.retainedBytes.total, a.bytes.total, a.count.total, b.type, b.module ?? "")
    }
    summary = Self.summary(inputs, hosts, types: types.count)
  }

  /// What is the same in a heap file and in the JSON that was made of it.
  private static func content(_ heap: HeapReport) -> String {
    var heap = heap
    (heap.sites, heap.findings, heap.detail, heap.tool) = ([], [], nil, LeakReport.Tool())
    heap.summary.notes = []
    return (try? heap.json()).map { $0.base64EncodedString() } ?? ""
  }

  private static func nothing(_ row: HeapReport.TypeRow) -> HeapReport.TypeRow {
    HeapReport.TypeRow(type: row.type, module: row.module, count: 0, bytes: 0, retainedBytes: 0)
  }

  private static func values(_ values: [Int], _ hosts: [MergedHost]) -> HostValues {
    HostValues(values, hosts: hosts.count)
  }

  private static func summary(
    _ inputs: HostInputs<HeapReport>, _ hosts: [MergedHost], types: Int
  ) -> Summary {
    func sums(_ number: (HeapReport.Summary) -> Int) -> HostValues {
      var sums: [String: Int] = [:]
      for input in inputs.inputs {
        sums[input.host, default: 0].addSaturating(UInt64(clamping: number(input.value.summary)))
      }
      return values(Array(sums.values), hosts)
    }
    var notes = inputs.notes
    let incomplete = inputs.inputs.filter { !$0.value.summary.complete }
    notes += incomplete.map { "'\($0.file)' is not complete: there may be more than it says" }
    let subjects = inputs.inputs.filter { $0.value.detail != nil }
    notes += subjects.map { "'\($0.file)' tells of one type or object; its tables are used" }
    // A sum of some of a host's processes would be too small.
    let resident = Dictionary(grouping: inputs.inputs, by: \.host).values.compactMap { inputs -> Int? in
      let known = inputs.map(\.value.summary.residentBytes)
      return known.allSatisfy { $0 > 0 } ? known.reduce(into: 0) { $0.addSaturating(UInt64(clamping: $1)) } : nil
    }
    return Summary(
      objects: sums(\.objects), objectBytes: sums(\.objectBytes), rawBytes: sums(\.rawBytes),
      residentBytes: HostValues(resident, hosts: resident.count), residentHosts: resident.count, types: types,
      complete: incomplete.isEmpty, notes: notes)
  }

  /// The JSON with sorted keys and a newline at the end, the same bytes for the same heaps.
  package func json() throws -> Data { try JSONRenderer.encode(self) }
}

extension HeapReport.TypeRow {
  fileprivate mutating func add(_ other: Self) {
    count.addSaturating(UInt64(clamping: other.count))
    bytes.addSaturating(UInt64(clamping: other.bytes))
    retainedBytes.addSaturating(UInt64(clamping: other.retainedBytes))
  }
}
