import UndeadSystem

/// How fast a number grows, with the interval that it certainly lies in.
package struct Trend: Sendable, Equatable {
  /// By the second.
  package var slope: Double
  /// The slope lies in it with 99 % confidence.
  package var interval: ClosedRange<Double>
  /// True if it certainly grows, and goes on growing.
  package var grows: Bool

  /// Fewest entries that can be judged.
  package static let least = 16

  /// Fits numbers over ascending times.
  ///
  /// Two questions, either of which is enough. Do they follow a line? Theil and Sen's median of the slopes between all
  /// pairs, with Kendall's variance, widened by what neighbours have in common: waves, steps and saw-teeth are no
  /// lines, and what is left of them beside one says so. Do their floors rise again and again? Student's interval of
  /// the rises from one part of the time to the next: for growth that comes in bursts. What has slowed down in the last
  /// third of the time was a warm-up, and does not grow.
  ///
  /// - Parameters:
  ///   - times: seconds, one for each value.
  ///   - values: what was counted at these times.
  ///   - questions: how many numbers are judged together: one of a hundred watches may call something growing that does
  ///     not, not one of a hundred numbers.
  /// - Returns: nil if there are fewer than ``least``.
  package init?(times: [Double], values: [Double], questions: Int = 1) {
    precondition(times.count == values.count)
    guard times.count >= Self.least, let first = times.first, let last = times.last, last > first else { return nil }
    guard let lowest = values.min(), let highest = values.max(), lowest < highest else {
      self.init(slope: 0, interval: 0...0, grows: false)
      return
    }
    let doubt = 0.005 / Double(max(questions, 1))
    let points = Points(times: times, values: values).thinned(to: Self.mostPoints)
    let fits = Self.fits(points)
    // The one that is surest of growth.
    let fit = fits.max { $0.interval(doubt: 0.01).lowerBound < $1.interval(doubt: 0.01).lowerBound } ?? fits[0]
    let certain = fits.contains { $0.interval(doubt: doubt).lowerBound > 0 }
    self.init(
      slope: fit.slope, interval: fit.interval(doubt: 0.01),
      grows: certain && !Self.hasSlowedDown(points, slope: fit.slope))
  }

  init(slope: Double, interval: ClosedRange<Double>, grows: Bool) {
    self.slope = slope
    self.interval = interval
    self.grows = grows
  }

  private static let mostPoints = 120

  /// Floors of long parts for what swings slowly, of short ones and the numbers themselves for what does not.
  private static func fits(_ points: Points) -> [SlopeFit] {
    var fits = [SlopeFit(line: points)]
    for parts in Set([min(24, points.count / 3), 12, 8, 6]) where parts >= 6 && parts <= points.count / 2 {
      let floors = points.floors(parts)
      if parts >= 8 { fits.append(SlopeFit(line: floors)) }
      fits.append(SlopeFit(rises: floors))
    }
    return fits
  }

  /// True if the last third certainly rises less than half as fast as all.
  private static func hasSlowedDown(_ points: Points, slope: Double) -> Bool {
    let end = points.suffix(max(4, points.count / 3))
    return SlopeFit(line: end).interval(doubt: 0.4).upperBound < slope / 2
  }
}

/// Numbers over time.
struct Points {
  var times: [Double]
  var values: [Double]

  var count: Int { times.count }

  func suffix(_ count: Int) -> Points { Points(times: times.suffix(count), values: values.suffix(count)) }

  /// The lowest number of each of `count` parts of the entries, at their mean time.
  func floors(_ count: Int) -> Points {
    var result = Points(times: [], values: [])
    for part in 0..<count {
      let range = (self.count * part / count)..<(self.count * (part + 1) / count)
      guard !range.isEmpty else { continue }
      result.times.append(times[range].reduce(0, +) / Double(range.count))
      result.values.append(values[range].min() ?? 0)
    }
    return result
  }

  func thinned(to most: Int) -> Points { count > most ? floors(most) : self }
}

/// An estimate of a slope, with an interval for any doubt.
struct SlopeFit {
  let slope: Double
  /// Sorted slopes between pairs, and the standard deviation of Kendall's sum; or the standard error of the slope.
  private let pairs: [Double]
  private let deviation: Double
  private let freedom: Double

  /// Theil and Sen's line.
  init(line points: Points) {
    var slopes: [Double] = []
    slopes.reserveCapacity(points.count * (points.count - 1) / 2)
    for later in points.times.indices {
      for earlier in 0..<later where points.times[later] > points.times[earlier] {
        slopes.append(
          (points.values[later] - points.values[earlier]) / (points.times[later] - points.times[earlier]))
      }
    }
    slopes.sort()
    let slope = Self.median(slopes)
    self.slope = slope
    pairs = slopes
    freedom = 0
    deviation = (Self.kendallVariance(points.values) * Self.inflation(points, slope: slope)).squareRoot()
  }

  /// The mean of the rises from each number to the next.
  init(rises points: Points) {
    let rises = zip(points.values.dropFirst(), points.values).map { $0 - $1 }
    let span = points.times[points.count - 1] - points.times[0]
    let mean = rises.reduce(0, +) / Double(rises.count)
    let variance = rises.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / Double(rises.count - 1)
    let perSecond = Double(rises.count) / span
    slope = mean * perSecond
    deviation = (variance / Double(rises.count)).squareRoot() * perSecond
    pairs = []
    freedom = Double(rises.count - 1)
  }

  /// The interval that misses the slope with a probability of `doubt`.
  func interval(doubt: Double) -> ClosedRange<Double> {
    guard !pairs.isEmpty else {
      let reach = Quantiles.student(1 - doubt / 2, freedom: freedom) * deviation
      return (slope - reach)...(slope + reach)
    }
    let reach = Quantiles.normal(1 - doubt / 2) * deviation
    let low = ((Double(pairs.count) - reach) / 2).rounded(.down) - 1
    let high = ((Double(pairs.count) + reach) / 2).rounded(.up)
    // Beyond the steepest pair nothing is known.
    let lower = low >= 0 ? pairs[Int(low)] : -Double.infinity
    let upper = high < Double(pairs.count) ? pairs[Int(high)] : Double.infinity
    return min(lower, slope)...max(upper, slope)
  }

  private static func median(_ sorted: [Double]) -> Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// Of the number of pairs that rise less those that fall, were the order chance; equal numbers are no pairs.
  private static func kendallVariance(_ values: [Double]) -> Double {
    func part(_ count: Int) -> Double { Double(count) * Double(count - 1) * Double(2 * count + 5) }
    var ties: [Double: Int] = [:]
    for value in values { ties[value, default: 0] += 1 }
    return (part(values.count) - ties.values.reduce(0) { $0 + part($1) }) / 18
  }

  /// How much wider the interval is for neighbours being alike: by their correlation beside the line.
  private static func inflation(_ points: Points, slope: Double) -> Double {
    let offsets = zip(points.times, points.values).map { $1 - slope * $0 }
    let mean = offsets.reduce(0, +) / Double(offsets.count)
    var (own, neighbours) = (0.0, 0.0)
    for (index, offset) in offsets.enumerated() {
      own += (offset - mean) * (offset - mean)
      if index > 0 { neighbours += (offset - mean) * (offsets[index - 1] - mean) }
    }
    guard own > 0 else { return 1 }
    // A short series hides a part of it: that of white noise is negative.
    let correlation = min(max(neighbours / own + 1 / Double(offsets.count), 0), 0.99)
    return (1 + correlation) / (1 - correlation)
  }
}
