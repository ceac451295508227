import UndeadReport

/// Strings of equal contents, by the field that holds them, or by the container of the Foundation objects that do.
enum EqualContents {
  private struct Key: Hashable {
    var place: UInt32
    /// Type of the Foundation object that holds the string; -1 for none.
    var bridged: Int
  }

  static func drafts(_ heap: LoadedHeap, _ places: HeapLocations, _ limits: HeapFindingLimits) -> [HeapFindingDraft] {
    var counts: [UInt64: Int] = [:]
    for entry in heap.graph.hashes where isReached(Int(entry.rank), heap) { counts[entry.hash, default: 0] += 1 }
    var tally = PlaceTally<Key>()
    var contents: [Key: Set<UInt64>] = [:]
    let bridges = bridges(heap)
    for entry in heap.graph.hashes where (counts[entry.hash] ?? 0) >= HeapFindingLimits.repetitions {
      let block = Int(entry.rank)
      guard isReached(block, heap) else { continue }
      let object = bridges[block]
      let key = Key(
        place: object.map { places.container[$0] } ?? places.holder[block], bridged: object.map(heap.group) ?? -1)
      // The first one of each content is needed.
      guard !contents[key, default: []].insert(entry.hash).inserted else { continue }
      let bytes = heap.graph.size(block) + (object.map(heap.graph.size) ?? 0)
      tally.add(key, object ?? block, bytes: bytes)
    }
    return tally.entries.filter {
      $0.value.bytes >= limits.bytes && $0.value.objects >= HeapFindingLimits.equalStrings
    }.map { key, entry in
      let different = contents[key]?.count ?? 0
      let values = "\(different) different value\(different == 1 ? "" : "s")"
      guard key.bridged >= 0 else {
        return HeapFindingDraft(
          kind: .equalStrings, title: "strings repeat \(values)", objects: entry.objects, bytes: entry.bytes,
          block: entry.block, type: "Swift.String", container: places.name(Int(key.place)),
          advice:
            "keep one string of each value, in a Set or dictionary of those seen, or an enum or number in its place")
      }
      return HeapFindingDraft(
        kind: .equalBridgedObjects, title: "objects of Foundation repeat \(values)", objects: entry.objects,
        bytes: entry.bytes, block: entry.block, container: places.name(Int(key.place)),
        advice: "keep one object of each value, or Swift's own String: each of these is a copy")
    }
  }

  private static func isReached(_ block: Int, _ heap: LoadedHeap) -> Bool {
    heap.graph.shape(block).has(HeapFile.Shape.reached)
  }

  /// By string: the NSString that alone holds it.
  private static func bridges(_ heap: LoadedHeap) -> [Int: Int] {
    let isString = heap.types.groups.map { group in
      ["Foundation.NSString", "Foundation.NSMutableString", "Foundation._NSCFString"].contains(group.name)
    }
    guard isString.contains(true) else { return [:] }
    var found: [Int: Int] = [:]
    for entry in heap.graph.hashes {
      let above = Int(heap.dominators.immediate[Int(entry.rank)])
      if heap.dominators.nodes.isBlock(above), isString[heap.group(above)] { found[Int(entry.rank)] = above }
    }
    return found
  }
}
