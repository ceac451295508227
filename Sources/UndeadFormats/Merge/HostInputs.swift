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
