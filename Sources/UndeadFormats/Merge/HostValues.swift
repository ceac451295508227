import UndeadReport

/// A number of each host: the sum, and how it is spread. A host that has none of it counts with 0.
package struct HostValues: Codable, Sendable, Equatable {
  package var total: Int
  package var min: Int
  /// The lower one of the two in the middle, where the number of hosts is even.
  package var median: Int
  package var max: Int

  /// - Parameters:
  ///   - values: of those hosts that have any.
  ///   - hosts: how many there are.
  package init(_ values: [Int], hosts: Int) {
    let sorted = (values + Array(repeating: 0, count: Swift.max(0, hosts - values.count))).sorted()
    total = 0
    for value in values { total.addSaturating(UInt64(clamping: value)) }
    min = sorted.first ?? 0
    median = sorted.isEmpty ? 0 : sorted[(sorted.count - 1) / 2]
    max = sorted.last ?? 0
  }
}

/// What was merged: a host, and what it gave.
package struct MergedHost: Codable, Sendable, Equatable {
  /// As it was named, else the file.
  package var name: String
  /// In order.
  package var files: [String]
}
