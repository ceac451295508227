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

/// Something of a host that is to be merged.
package struct HostInput<Value: Sendable>: Sendable {
  /// Inputs of one name are of one host.
  package var host: String
  /// What messages call it.
  package var file: String
  package var value: Value

  package init(host: String, file: String, value: Value) {
    self.host = host
    self.file = file
    self.value = value
  }
}

/// Inputs without those that are there twice, in an order that does not depend on how they were given.
package struct HostInputs<Value: Sendable> {
  package private(set) var inputs: [HostInput<Value>] = []
  /// One for each that is left out.
  package private(set) var notes: [String] = []

  /// - Parameter content: of an input; those of equal content are one.
  package init(_ given: [HostInput<Value>], content: (Value) -> String) {
    let sorted = given.map { ($0, content($0.value)) }.sorted { a, b in
      (a.0.host, a.0.file, a.1) < (b.0.host, b.0.file, b.1)
    }
    var files: [String: String] = [:]
    for (input, content) in sorted {
      if let known = files[content] {
        notes.append("'\(input.file)' is the same as '\(known)', and counts once")
        continue
      }
      files[content] = input.file
      inputs.append(input)
    }
  }

  package var hosts: [MergedHost] {
    Dictionary(grouping: inputs) { $0.host }.map { MergedHost(name: $0.key, files: $0.value.map(\.file)) }
      .sorted { $0.name < $1.name }
  }
}
