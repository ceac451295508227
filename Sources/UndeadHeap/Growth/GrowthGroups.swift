import UndeadReport

/// What is shown together: all types that grew in one field, each type that grew directly below a root.
package struct GrowthGroups {
  /// By key: its group; ``none`` for keys that are no entries.
  private(set) var ofKey: [UInt32]
  /// By group: its keys.
  package private(set) var keys: [[UInt32]] = []
  /// The group of what grew in a field, by place.
  private(set) var ofPlace: [UInt32: UInt32] = [:]
  private let comesAlong: [Bool]

  static let none = UInt32.max

  package init(_ names: GrowthNames, _ entries: GrowthEntries) {
    ofKey = Array(repeating: Self.none, count: names.keys.count)
    comesAlong = entries.comesAlong
    for (number, key) in names.keys.enumerated() where entries.isEntry[number] {
      let isField = names.places[Int(key.place)].isNamed
      let group = isField ? ofPlace[key.place] ?? UInt32(keys.count) : UInt32(keys.count)
      if isField { ofPlace[key.place] = group }
      if Int(group) == keys.count { keys.append([]) }
      keys[Int(group)].append(UInt32(number))
      ofKey[number] = group
    }
  }

  /// To which group each block of a heap belongs: that of the nearest entry among itself and what dominates it. The
  /// caller deallocates the answer.
  func attribution(_ side: GrowthSide) -> UnsafeMutableBufferPointer<UInt32> {
    let group = UnsafeMutableBufferPointer<UInt32>.filled(side.heap.graph.count, with: Self.none)
    side.visit { block in
      let isCollection = side.heap.types.groups[side.heap.group(block)].isCollection
      if isCollection, !comesAlong[Int(side.keys[block])], let inside = ofPlace[side.holders[block]] {
        // The storage of a container grows with what is in it; that of containers that came with their owners does not.
        group[block] = inside
      } else if ofKey[Int(side.keys[block])] != Self.none {
        group[block] = ofKey[Int(side.keys[block])]
      } else if let above = side.dominator(block) {
        group[block] = group[above]
      }
    }
    return group
  }
}
