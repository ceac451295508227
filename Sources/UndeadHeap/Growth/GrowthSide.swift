import UndeadReport

/// One of the two heaps that are compared, with its blocks by what they have in common with the other one.
package final class GrowthSide {
  package let heap: LoadedHeap
  /// By block: its type.
  let types: UnsafeMutableBufferPointer<UInt32>
  /// By block: its type in its place; memory without a type is part of the object that owns it.
  let keys: UnsafeMutableBufferPointer<UInt32>
  /// By block: the place that directly holds it.
  let holders: UnsafeMutableBufferPointer<UInt32>
  /// By block: false for what is part of another one.
  let isCounted: UnsafeMutableBufferPointer<Bool>
  /// Types that the program declares.
  package private(set) var programTypes: Set<UInt32> = []

  package init(_ heap: LoadedHeap, _ names: inout GrowthNames) {
    self.heap = heap
    let count = heap.graph.count
    types = .filled(count, with: 0)
    keys = .filled(count, with: 0)
    holders = .filled(count, with: 0)
    isCounted = .filled(count, with: true)
    nameTypes(&names)
    let locations = HeapLocations(heap)
    let places = (0..<locations.count).map { names.number(locations.name($0)) }
    for block in 0..<count { holders[block] = places[Int(locations.holder[block])] }
    let dominators = heap.dominators
    for number in 0..<dominators.nodes.count {
      let block = Int(dominators.order[number])
      guard dominators.nodes.isBlock(block) else { continue }
      let above = Int(dominators.immediate[block])
      if dominators.nodes.isBlock(above), isPart(block, of: above) {
        keys[block] = keys[above]
        isCounted[block] = false
      } else {
        let place = places[Int(locations.container[block])]
        keys[block] = names.number(GrowthNames.Key(type: types[block], place: place))
      }
    }
  }

  deinit {
    for buffer in [types, keys, holders] { buffer.deallocate() }
    isCounted.deallocate()
  }

  private func nameTypes(_ names: inout GrowthNames) {
    var modules = HeapModules(heap.file.snapshot)
    let foreign = Int(heap.types.foreign)
    let ofGroup = heap.types.groups.enumerated().map { number, group in
      number == foreign
        ? 0 : names.number(.init(type: group.name), group.storage ?? (group.isCollection ? .array : nil))
    }
    for (number, group) in heap.types.groups.enumerated() where number != foreign && group.isOfProgram {
      programTypes.insert(ofGroup[number])
    }
    let foreignName = heap.types.groups[foreign].name
    var ofModule: [UInt32: UInt32] = [:]
    for block in 0..<heap.graph.count {
      let group = heap.group(block)
      guard group == foreign else {
        types[block] = ofGroup[group]
        continue
      }
      let module = modules.module(ofStack: heap.graph.stack(block))
      if let known = ofModule[module] {
        types[block] = known
      } else {
        let type = names.number(.init(type: foreignName, module: modules.names[Int(module)]), nil)
        ofModule[module] = type
        types[block] = type
      }
    }
  }

  /// Memory without a type that an object owns, the bytes of a Data for example.
  private func isPart(_ block: Int, of above: Int) -> Bool {
    let (group, owner) = (heap.group(block), heap.group(above))
    if heap.types.groups[group].storage == .sideTable { return true }
    let isMemory = group == Int(heap.types.raw) || group == Int(heap.types.foreign)
    guard isMemory else { return false }
    if owner == Int(heap.types.raw) || owner == Int(heap.types.foreign) { return !isCounted[above] }
    return !heap.types.groups[owner].isCollection
  }

  /// The block that dominates a block; nil if a root does.
  func dominator(_ block: Int) -> Int? {
    let above = Int(heap.dominators.immediate[block])
    return heap.dominators.nodes.isBlock(above) ? above : nil
  }

  /// Visits all blocks, each after those that dominate it.
  func visit(_ body: (Int) -> Void) {
    let dominators = heap.dominators
    for number in 0..<dominators.nodes.count where dominators.nodes.isBlock(Int(dominators.order[number])) {
      body(Int(dominators.order[number]))
    }
  }

  /// A block of each key, rather one that came.
  package func examples(ofKeys wantedKeys: [Int], _ pairing: HeapPairing?) -> [UInt32: Int] {
    let wanted = Set(wantedKeys.map(UInt32.init))
    var found: [UInt32: Int] = [:]
    var isNew: Set<UInt32> = []
    for block in 0..<heap.graph.count where isCounted[block] {
      let key = keys[block]
      guard wanted.contains(key) else { continue }
      let came = pairing?.came[block] ?? false
      if found[key] == nil || (came && !isNew.contains(key)) { found[key] = block }
      if came { isNew.insert(key) }
    }
    return found
  }
}
