import UndeadReport

/// Where the blocks of a heap hang, by names alone, so that two heaps can be compared: the field of an object, or
/// the root, that holds the collection around a block, or the block itself.
package final class HeapLocations {
  /// A field of a type, or a root.
  package struct Name: Hashable, Sendable {
    /// Type of the owner, or kind and name of the root.
    package var type: String
    /// `sessions`, `state.items[].handlers`; empty for a root.
    package var field: String

    /// True for a field, and for a variable with a name: what grows there counts as one.
    package var isNamed: Bool { !field.isEmpty || type.hasPrefix(Self.global) || type.hasPrefix(Self.typeVariable) }

    fileprivate static let global = "global "
    fileprivate static let typeVariable = "static "
  }

  /// Number of the place that directly holds each block: the field of the nearest object that a programmer knows.
  package let holder: UnsafeBufferPointer<UInt32>
  /// Number of the place that contains each block: that of the nearest collection around it, or its holder. An object in
  /// a list or tree of its own type is where the first of them is.
  package let container: UnsafeBufferPointer<UInt32>

  /// A place: the one that it lies in and a label; for the outermost label the owner.
  private struct Link: Hashable {
    var above: UInt32
    var owner: UInt32
    var label: StringID
  }

  private static let none = UInt32.max

  private let heap: LoadedHeap
  private var links: [Link] = []
  private var numbers: [Link: UInt32] = [:]
  private var rootNames: [UInt32: String] = [:]
  private var rootNumbers: [String: UInt32] = [:]
  /// As reports show them.
  private var labels = Numbered<String>()

  package init(_ heap: LoadedHeap) {
    self.heap = heap
    let count = heap.graph.count
    let holder = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    let container = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    self.holder = UnsafeBufferPointer(holder)
    self.container = UnsafeBufferPointer(container)
    // The nearest object that a programmer knows, and the nearest collection below it, on the path to each block.
    let owner = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    let around = UnsafeMutableBufferPointer<UInt32>.filled(count, with: Self.none)
    defer {
      owner.deallocate()
      around.deallocate()
    }
    let labelOfPlace = heap.file.places.map { labels.number(heap.field(of: $0)) }
    let isVisible = heap.types.groups.map {
      $0.role.isVisible && $0.storage == nil && !FoundationTypes.isCollection($0.name)
    }
    var rootPlaces: [UInt32: UInt32] = [:]
    for number in 0..<count {
      let block = Int(heap.paths.order[number])
      let above = heap.paths.holder[block]
      let edge = heap.paths.edge[block]
      if edge == HeapPaths.none {
        let place = rootPlaces[above] ?? root(Int(above))
        rootPlaces[above] = place
        holder[block] = place
      } else {
        let group = heap.types.groupOfShape[Int(heap.graph.shapes[Int(above)])]
        let label = labelOfPlace[Int(heap.graph.places[Int(edge)])]
        if isVisible[Int(group)] {
          owner[block] = above
          holder[block] = self.number(Link(above: Self.none, owner: group, label: label))
        } else {
          owner[block] = owner[Int(above)]
          holder[block] = extended(holder[Int(above)], by: label)
          around[block] = heap.types.groups[Int(group)].isCollection ? above : around[Int(above)]
        }
      }
      let dominating = heap.containers.collection[block]
      let collection = dominating != HeapContainers.none ? dominating : around[block]
      let place = collection == Self.none ? holder[block] : holder[Int(collection)]
      let top = collection == Self.none ? owner[block] : owner[Int(collection)]
      let isOfOwnType = top != Self.none && heap.group(Int(top)) == heap.group(block)
      container[block] = isOfOwnType ? container[Int(top)] : place
    }
  }

  deinit {
    holder.deallocate()
    container.deallocate()
  }

  /// Number of places.
  package var count: Int { links.count }

  /// Owner and field of a place.
  package func name(_ place: Int) -> Name {
    var fields: [String] = []
    var next = UInt32(place)
    while true {
      let link = links[Int(next)]
      if link.label != Self.none { fields.append(labels.all[Int(link.label)]) }
      if link.above == Self.none {
        let type = rootNames[next] ?? heap.types.groups[Int(link.owner)].name
        return Name(type: type, field: HeapContainers.joined(fields.reversed()))
      }
      next = link.above
    }
  }

  private func number(_ link: Link) -> UInt32 {
    if let known = numbers[link] { return known }
    links.append(link)
    numbers[link] = UInt32(links.count - 1)
    return UInt32(links.count - 1)
  }

  /// A place with one more label; the same where a label repeats, as in a list of boxes.
  private func extended(_ place: UInt32, by label: StringID) -> UInt32 {
    let link = links[Int(place)]
    if link.label == label { return place }
    if link.above != Self.none, links[Int(link.above)].label == label { return link.above }
    return number(Link(above: place, owner: Self.none, label: label))
  }

  /// Stacks and registers of all threads are one place, as other threads do the same in another run.
  private func root(_ node: Int) -> UInt32 {
    let root = heap.root(ofNode: node)
    let name: String
    switch root.kind {
    case "stack", "register": name = "the stacks of threads"
    case "threadLocal": name = "thread-local variables"
    case "global":
      name =
        root.name.isEmpty
        ? "a global variable" : root.name.hasPrefix(Name.typeVariable) ? root.name : Name.global + root.name
    case "runLoop": name = root.name.isEmpty ? "a run loop" : "run loop \(root.name)"
    default: name = root.name.isEmpty ? root.kind : root.name
    }
    if let known = rootNumbers[name] { return known }
    links.append(Link(above: Self.none, owner: Self.none, label: Self.none))
    let place = UInt32(links.count - 1)
    rootNames[place] = name
    rootNumbers[name] = place
    return place
  }
}

/// Types of Foundation that only stand between an object and what it keeps.
enum FoundationTypes {
  /// True for collection classes, which hold what they have in a Swift collection.
  static func isCollection(_ type: String) -> Bool { collections.contains(type) }

  /// Boxes of Swift values in such collections.
  static let box = "Foundation.__SwiftValue"

  private static let collections: Set<String> = Set(
    ["Array", "Dictionary", "Set", "OrderedSet"].flatMap { ["Foundation.NS\($0)", "Foundation.NSMutable\($0)"] })
}
