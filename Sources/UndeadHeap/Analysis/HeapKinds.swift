import UndeadReport

/// What blocks are called on a page: by type, memory of C code by the library that allocated it.
package final class HeapKinds {
  package struct Kind: Hashable {
    package var name: String
    /// Of memory of C code.
    package var module: String?

    package init(name: String, module: String? = nil) {
      self.name = name
      self.module = module
    }
  }

  package private(set) var kinds: [Kind]
  /// By block: index of `kinds`.
  package let ofBlock: UnsafeBufferPointer<UInt32>
  package let tally: HeapTally

  package init(_ heap: LoadedHeap) {
    let (graph, types) = (heap.graph, heap.types)
    var modules = HeapModules(heap.file.snapshot)
    var kinds = types.groups.map { Kind(name: $0.name) }
    var foreign: [UInt32: UInt32] = [:]
    let keys = UnsafeMutableBufferPointer<UInt32>.allocate(capacity: graph.count)
    for block in 0..<graph.count {
      let group = UInt32(heap.group(block))
      guard group == types.foreign else {
        keys.initializeElement(at: block, to: group)
        continue
      }
      let module = modules.module(ofStack: graph.stack(block))
      if foreign[module] == nil {
        foreign[module] = UInt32(kinds.count)
        kinds.append(Kind(name: types.groups[Int(group)].name, module: modules.names[Int(module)]))
      }
      keys.initializeElement(at: block, to: foreign[module] ?? group)
    }
    ofBlock = UnsafeBufferPointer(keys)
    self.kinds = kinds
    tally = HeapTally(heap, keys: ofBlock, keyCount: kinds.count)
  }

  deinit { ofBlock.deallocate() }
}
