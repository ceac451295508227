/// What a snapshot lists as leaked, with addresses that no scan can follow.
struct ReportedNode {
  var scrambled: UInt64
  /// The same for nodes that hang together.
  var component: Int
  /// "support" for memory that belongs to an object, such as a side table.
  var type: String

  /// Reads the nodes of a snapshot (`Documentation/snapshot-format.md`), sorted by address.
  static func all(in bytes: UnsafeRawBufferPointer, scramble: (UInt64) -> UInt64) -> [ReportedNode] {
    func section(_ kind: UInt32) -> (start: Int, stride: Int, count: Int) {
      for index in 0..<Int(bytes.loadUnaligned(fromByteOffset: 32, as: UInt32.self)) {
        let entry = 64 + index * 32
        guard bytes.loadUnaligned(fromByteOffset: entry, as: UInt32.self) == kind else { continue }
        let stride = bytes.loadUnaligned(fromByteOffset: entry + 4, as: UInt32.self)
        let start = bytes.loadUnaligned(fromByteOffset: entry + 8, as: UInt64.self)
        let count = bytes.loadUnaligned(fromByteOffset: entry + 24, as: UInt64.self)
        return (Int(start), Int(stride), Int(count))
      }
      return (0, 0, 0)
    }
    func word(_ offset: Int) -> Int { Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    let (strings, types, nodes, edges) = (section(1), section(5), section(6), section(7))

    var owner = Array(0..<nodes.count)
    func root(_ index: Int) -> Int {
      var index = index
      while owner[index] != index { index = owner[index] }
      return index
    }
    for edge in 0..<edges.count {
      let (from, to) = (word(edges.start + edge * edges.stride), word(edges.start + edge * edges.stride + 4))
      let (one, other) = (root(from), root(to))
      owner[max(one, other)] = min(one, other)
      owner[from] = min(one, other)
    }
    var reported: [ReportedNode] = []
    for node in 0..<nodes.count {
      let entry = nodes.start + node * nodes.stride
      guard (1...3).contains(word(entry + 28)) else { continue }
      var type = "?"
      let number = word(entry + 16)
      if number < types.count {
        let name = strings.start + word(types.start + number * types.stride + 8)
        type = String(cString: bytes.baseAddress!.advanced(by: name).assumingMemoryBound(to: CChar.self))
      }
      if word(entry + 28) == 3 { type = "support" }
      let address = bytes.loadUnaligned(fromByteOffset: entry, as: UInt64.self)
      reported.append(ReportedNode(scrambled: scramble(address), component: root(node), type: type))
    }
    reported.sort { $0.scrambled < $1.scrambled }
    return reported
  }
}
