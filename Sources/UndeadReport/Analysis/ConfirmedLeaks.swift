extension Snapshot {
  /// True if objects or raw memory are in it that nothing reached.
  package var hasLeaks: Bool { nodes.contains { $0.state == .leaked || $0.state == .raw } }

  /// Leaves only the leaks that a later look at the same process saw, too: what has leaked stays so, while a look at a moment
  /// in which the allocator was at work may take for a block what is none.
  ///
  /// - Parameter second: the later look.
  /// - Returns: how many objects only this one took for leaked.
  package mutating func keepLeaks(confirmedBy second: LeakSnapshot) -> Int {
    let (own, other) = (NodeNames(self), NodeNames(second))
    var confirmed: [UInt64: String] = [:]
    for (node, record) in second.nodes.enumerated() where record.isUnreachable {
      confirmed[record.address] = other.type(of: node)
    }
    var removed = 0
    for (node, record) in nodes.enumerated() where record.isUnreachable {
      if let type = confirmed[record.address], type == own.type(of: node) { continue }
      nodes[node].state = .live
      if record.state != .support { removed += 1 }
    }
    let pause = counter("pauseNanoseconds") + second.counter("pauseNanoseconds")
    counters.removeAll { $0.key == "pauseNanoseconds" }
    counters.append(Counter(key: "pauseNanoseconds", value: pause))
    return removed
  }
}

extension Snapshot.Node {
  /// True if it leaked, or hangs off something that leaked.
  package var isUnreachable: Bool { state == .leaked || state == .raw || state == .support }
}
