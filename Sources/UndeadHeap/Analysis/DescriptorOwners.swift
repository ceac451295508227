import UndeadReport

/// Which objects have the open files of the process.
extension LoadedHeap {
  /// By number of the descriptor: the object that has it.
  package func descriptorHolders(_ symbols: HeapSymbols) -> [UInt32: HeapFile.DescriptorHolder] {
    var holders: [UInt32: HeapFile.DescriptorHolder] = [:]
    let doubtful = collectionsOfOtherNumbers()
    let open = Set((file.resources?.descriptors ?? []).map { UInt32(bitPattern: $0.number) })
    var captured = CapturedDescriptors(self, symbols.code)
    for holder in file.holders where holder.block < UInt32(graph.count) {
      guard graph.shape(Int(holder.block)).has(HeapFile.Shape.reached) else { continue }
      guard !isUnnamed(holder) || !doubtful.contains(holder.block) else { continue }
      if let known = holders[holder.descriptor], rank(known) >= rank(holder) { continue }
      if file.snapshot.strings[holder.field] == CapturedDescriptors.unproved {
        guard open.contains(holder.descriptor), captured.isUsed(Int(holder.block), Int64(holder.offset)) else {
          continue
        }
      }
      holders[holder.descriptor] = holder
    }
    return holders
  }

  /// An object of the program says more than a closure or an object of a library, that more than a record of libdispatch, and that more
  /// than a number that has no name.
  private func rank(_ holder: HeapFile.DescriptorHolder) -> Int {
    let group = types.groups[group(Int(holder.block))]
    return isUnnamed(holder) ? 0 : group.kind == .other ? 1 : group.isOfProgram && group.kind != .context ? 3 : 2
  }

  /// True for what C calls an int, in a collection: only its type tells that it may be a descriptor.
  private func isUnnamed(_ holder: HeapFile.DescriptorHolder) -> Bool {
    let (int, part) = ("Swift.Int32", file.snapshot.strings[holder.field])
    guard Self.isPartOfCollection(part) else { return false }
    let type = typeName(Int(holder.block))
    return part == "[value]" ? type.hasSuffix(", \(int)>") : type.contains("<\(int)")
  }

  /// Whether a label is that of an element of a collection, and not of a field.
  package static func isPartOfCollection(_ label: String) -> Bool { label.hasPrefix("[") }

  /// Whether a label is that of what a closure captured, which has no name.
  package static func isCaptured(_ label: String) -> Bool { label.hasPrefix(CapturedDescriptors.label) }

  /// Collections with a number that is no open file, or is one that each process has: their numbers are something else.
  private func collectionsOfOtherNumbers() -> Set<UInt32> {
    let descriptors = file.resources?.descriptors ?? []
    let open = Set(descriptors.lazy.map { UInt32(bitPattern: $0.number) }.filter { $0 > 2 })
    return Set(file.holders.lazy.filter { !open.contains($0.descriptor) }.map(\.block))
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
