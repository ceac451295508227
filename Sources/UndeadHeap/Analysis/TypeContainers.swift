import UndeadReport

/// Where the objects of types are: the container that has most of each.
package struct TypeContainers: Sendable {
  /// A field of an object, or a root.
  package struct Container: Sendable, Equatable {
    /// Type of the object that has the field, or the root.
    package var type: String
    /// The field; empty for a root.
    package var field: String
    /// Objects of the type in it.
    package var count: Int
    /// Objects of the type in the whole heap.
    package var total: Int

    /// For a sentence: "`.sessions` of App.Cache".
    package var description: String {
      field.isEmpty ? type : "`\(field.hasPrefix("[") ? field : ".\(field)")` of \(type)"
    }
  }

  private let found: [String: Container]

  /// Looks types up in a heap, by the names that reports give them.
  package init(of types: Set<String>, in heap: LoadedHeap) {
    let isWanted = heap.types.groups.map { types.contains($0.name) }
    let places = HeapLocations(heap)
    var counts: [Int: [UInt32: Int]] = [:]
    for block in 0..<heap.graph.count where isWanted[heap.group(block)] {
      counts[heap.group(block), default: [:]][places.container[block], default: 0] += 1
    }
    var found: [String: Container] = [:]
    for (group, ofPlaces) in counts {
      guard let most = ofPlaces.max(by: { ($0.value, $1.key) < ($1.value, $0.key) }) else { continue }
      let name = places.name(Int(most.key))
      found[heap.types.groups[group].name] = Container(
        type: name.type, field: name.field, count: most.value, total: ofPlaces.values.reduce(0, +))
    }
    self.found = found
  }

  /// The container that has most objects of a type; nil if there are none.
  package subscript(type: String) -> Container? { found[type] }
}
