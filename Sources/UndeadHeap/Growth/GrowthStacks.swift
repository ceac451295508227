import UndeadReport

/// How much each stack allocated of the blocks of two heaps, by type, and by type and place.
package struct GrowthStacks {
  package struct Stack: Hashable {
    package var number: Snapshot.Index
    package var isAfter: Bool
  }

  package typealias Amounts = [Stack: GrowthSum]

  package private(set) var ofTypes: [UInt32: Amounts] = [:]
  package private(set) var ofKeys: [UInt32: Amounts] = [:]

  package init(_ old: GrowthSide, _ new: GrowthSide) {
    for (side, isAfter) in [(old, false), (new, true)] {
      let isSampled = side.heap.file.sampleBytes != nil
      for block in 0..<side.heap.graph.count {
        let site = side.heap.graph.site(block)
        // Samples stand for the others.
        if isSampled, site?.isSampled != true { continue }
        let stack = Stack(number: site?.stack ?? Snapshot.none, isAfter: isAfter)
        let size = side.heap.graph.size(block)
        let mean = site?.isSampled == true ? site?.sampleMean : nil
        ofTypes[side.types[block], default: [:]][stack, default: .init()].add(size, mean: mean)
        if side.isCounted[block] {
          ofKeys[side.keys[block], default: [:]][stack, default: .init()].add(size, mean: mean)
        }
      }
    }
  }
}

/// Blocks of one place: each counted, or estimated from a sample.
package struct GrowthSum {
  private var counted = HeapAmount()
  private var sampled = SampleSums()

  mutating func add(_ size: UInt64, mean: UInt32?) {
    if let mean {
      sampled.add(size: size, mean: mean)
    } else {
      counted.count += 1
      counted.bytes.addSaturating(UInt64(size))
    }
  }

  package static func += (sum: inout GrowthSum, other: GrowthSum) {
    sum.counted.count = sum.counted.count.plus(other.counted.count)
    sum.counted.bytes = sum.counted.bytes.plus(other.counted.bytes)
    sum.sampled += other.sampled
  }

  package init() {}

  package var shown: HeapAmount {
    guard sampled.samples > 0 else { return counted }
    let estimate = sampled.estimate
    return .init(count: counted.count.plus(estimate.count), bytes: counted.bytes.plus(estimate.bytes))
  }

  /// Of the difference between two moments; nil if both are exact.
  package static func margin(_ before: GrowthSum, _ after: GrowthSum) -> HeapAmount? {
    let estimates = [before, after].map(\.sampled).filter { $0.samples > 0 }.map(\.estimate)
    guard !estimates.isEmpty else { return nil }
    func together(_ margins: [Int]) -> Int {
      Int(exactly: margins.reduce(0) { $0 + Double($1) * Double($1) }.squareRoot().rounded()) ?? .max
    }
    return .init(count: together(estimates.map(\.countMargin)), bytes: together(estimates.map(\.bytesMargin)))
  }
}
