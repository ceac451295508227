import UndeadReport

/// Which objects have the open files of the process.
extension LoadedHeap {
  /// By number of the descriptor: the object that has it.
  package func descriptorHolders() -> [UInt32: HeapFile.DescriptorHolder] {
    var holders: [UInt32: HeapFile.DescriptorHolder] = [:]
    for holder in file.holders where holder.block < UInt32(graph.count) {
      guard graph.shape(Int(holder.block)).has(HeapFile.Shape.reached) else { continue }
      if let known = holders[holder.descriptor], rank(known) >= rank(holder) { continue }
      holders[holder.descriptor] = holder
    }
    return holders
  }

  /// An object of the program says more than one of a library, and that more than a record of libdispatch.
  private func rank(_ holder: HeapFile.DescriptorHolder) -> Int {
    let group = types.groups[group(Int(holder.block))]
    return group.kind == .other ? 0 : group.isOfProgram ? 2 : 1
  }

  /// Of records of libdispatch: the object of the program that refers to the source or channel, and by which field. Records that no such
  /// object has are left out, and those that several have.
  ///
  ///     App.Server .source -> Dispatch.DispatchSource -> dispatch source -> record with the number
  package func owners(ofRecords records: Set<Int>) -> [Int: (block: Int, field: String)] {
    let (graph, depth) = (graph, 3)
    var found: [Int: (block: Int, field: String)] = [:]
    var several: Set<Int> = []
    var records = Dictionary(uniqueKeysWithValues: records.map { ($0, $0) })
    for _ in 0..<depth where !records.isEmpty {
      let isWanted = [Bool](unsafeUninitializedCapacity: graph.count) { flags, count in
        flags.initialize(repeating: false)
        for block in records.keys { flags[block] = true }
        count = graph.count
      }
      var next: [Int: Int] = [:]
      for block in 0..<graph.count {
        for edge in graph.edges(of: block) where isWanted[Int(graph.targets[edge])] {
          let strength = graph.place(edge).strength
          guard strength == HeapFile.Strength.counted || strength == HeapFile.Strength.raw,
            let record = records[Int(graph.targets[edge])]
          else { continue }
          let group = types.groups[group(block)]
          if group.isOfProgram {
            if let known = found[record], known.block != block { several.insert(record) }
            found[record] = (block, field(edge))
          } else if isOfDispatch(group), records[block] == nil {
            next[block] = record
          }
        }
      }
      records = next
    }
    return found.filter { !several.contains($0.key) }
  }

  private func isOfDispatch(_ group: HeapTypes.Group) -> Bool {
    group.name == "dispatch source" || group.name.hasPrefix("dispatch source ") || group.name == "dispatch io"
      || group.name.hasPrefix("Dispatch.")
  }
}
