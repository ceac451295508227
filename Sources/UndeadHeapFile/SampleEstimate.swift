import UndeadSystem

/// What a sample of allocations says of all of them, with 95 % intervals.
package struct SampleEstimate: Codable, Sendable, Hashable {
  /// Blocks that were sampled.
  package var samples: Int
  package var count: Int
  package var countLow: Int
  package var countHigh: Int
  package var bytes: Int
  package var bytesLow: Int
  package var bytesHigh: Int

  /// Half of the width of the intervals.
  package var countMargin: Int { (countHigh - countLow) / 2 }
  package var bytesMargin: Int { (bytesHigh - bytesLow) / 2 }

  /// Of counters of a place: so many samples, and the sums that they stand for.
  package init(samples: Int, count: Double, bytes: Double) {
    // All samples of a place taken as alike: then each stands for as much as the others.
    func excess(_ sum: Double) -> Double { samples > 0 ? max(sum / Double(samples) - 1, 0) : 0 }
    let perSample = samples > 0 ? bytes / Double(samples) : 0
    let sizes = samples > 0 && count > 0 ? bytes / count : 0
    let counts = SampleInterval(sum: count, varianceRatio: excess(count), least: Double(samples))
    let spread = SampleInterval(sum: bytes, varianceRatio: max(perSample - sizes, 0), least: 0)
    self.init(samples: samples, counts, spread)
  }

  fileprivate init(samples: Int, _ count: SampleInterval, _ bytes: SampleInterval) {
    self.samples = samples
    (self.count, countLow, countHigh) = count.numbers
    (self.bytes, bytesLow, bytesHigh) = bytes.numbers
  }
}

/// An estimate whose variance grows with what is estimated.
private struct SampleInterval {
  /// Of the normal distribution: 95 % lie within.
  private static let deviations = 1.959964

  let sum: Double
  let low: Double
  let high: Double

  /// - Parameters:
  ///   - varianceRatio: the variance for each unit of the sum.
  ///   - least: what was seen is certain.
  init(sum: Double, varianceRatio: Double, least: Double) {
    // Which true sums T are not further from the estimate than chance would bring it: (sum - T)^2 <= z^2 ratio T.
    let half = Self.deviations * Self.deviations * varianceRatio / 2
    let root = (half * half + 2 * half * sum).squareRoot()
    self.sum = sum
    low = max(sum + half - root, min(least, sum))
    high = sum + half + root
  }

  var numbers: (Int, Int, Int) {
    func whole(_ value: Double) -> Int { Int(exactly: value.rounded()) ?? Int.max }
    return (whole(sum), whole(low), whole(high))
  }
}

/// Adds up sampled blocks. A block of s bytes is sampled with probability p = 1 - exp(-s / mean) and stands for 1 / p.
package struct SampleSums: Hashable, Sendable {
  package private(set) var samples = 0
  package private(set) var count = 0.0
  package private(set) var bytes = 0.0
  private var countVariance = 0.0
  private var bytesVariance = 0.0

  package init() {}

  /// How many blocks a sampled one stands for.
  package static func weight(size: UInt64, mean: UInt32) -> Double {
    guard mean > 0, size > 0 else { return 1 }
    return 1 / -expm1(-Double(size) / Double(mean))
  }

  package mutating func add(size: UInt64, mean: UInt32, times: Int = 1) {
    let weight = Self.weight(size: size, mean: mean)
    let (size, number) = (Double(size), Double(times))
    samples += times
    count += number * weight
    bytes += number * weight * size
    countVariance += number * weight * (weight - 1)
    bytesVariance += number * weight * (weight - 1) * size * size
  }

  package static func += (sums: inout SampleSums, other: SampleSums) {
    sums.samples += other.samples
    sums.count += other.count
    sums.bytes += other.bytes
    sums.countVariance += other.countVariance
    sums.bytesVariance += other.bytesVariance
  }

  package var estimate: SampleEstimate {
    SampleEstimate(
      samples: samples,
      SampleInterval(sum: count, varianceRatio: count > 0 ? countVariance / count : 0, least: Double(samples)),
      SampleInterval(sum: bytes, varianceRatio: bytes > 0 ? bytesVariance / bytes : 0, least: 0))
  }
}
