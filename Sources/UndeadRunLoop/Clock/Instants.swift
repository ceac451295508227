#if canImport(Glibc) && !UNDEAD_WITHOUT_INSTRUMENT
import FoundationEssentials

extension Int64 {
  /// The instant that stands for any date before the time that a clock can count; differences to it are representable.
  static let longAgo = Int64.min / 2
}

/// Arithmetic on instants that saturates: a date a million years away is a date that never comes.
@usableFromInline
enum Instants {
  static let nanosecondsPerSecond = 1e9
  private static let wholeSecond: Int64 = 1_000_000_000

  /// The instant that never comes, by any clock.
  static let never = Int64.max

  @inline(__always)
  static func add(_ instant: Int64, _ nanoseconds: Int64) -> Int64 {
    let (sum, overflow) = instant.addingReportingOverflow(nanoseconds)
    return overflow ? (nanoseconds > 0 ? .max : .min) : sum
  }

  @inline(__always)
  static func subtract(_ instant: Int64, _ nanoseconds: Int64) -> Int64 {
    let (difference, overflow) = instant.subtractingReportingOverflow(nanoseconds)
    return overflow ? (nanoseconds < 0 ? .max : .min) : difference
  }

  /// An instant of one zero as one of another, `offset` nanoseconds away; what never comes, or was long ago, stays so.
  static func shift(_ instant: Int64, by offset: Int64) -> Int64 {
    if instant == never { return never }
    return instant <= .longAgo ? .longAgo : max(add(instant, offset), .longAgo)
  }

  /// A duration as the nearest number of nanoseconds, saturating: tenths of a second, as a `Double` has them, are not exact.
  static func nanoseconds(_ duration: Duration) -> Int64 {
    let attosecondsPerNanosecond: Int128 = 1_000_000_000
    let attoseconds = duration.attoseconds
    let half = attoseconds < 0 ? -attosecondsPerNanosecond / 2 : attosecondsPerNanosecond / 2
    let (rounded, overflow) = attoseconds.addingReportingOverflow(half)
    return max(Int64(clamping: (overflow ? attoseconds : rounded) / attosecondsPerNanosecond), .longAgo)
  }

  static func duration(_ nanoseconds: Int64) -> Duration {
    Duration(
      secondsComponent: nanoseconds / wholeSecond, attosecondsComponent: nanoseconds % wholeSecond * wholeSecond)
  }

  /// Seconds as an interval that a timer may have.
  @usableFromInline
  static func interval(_ seconds: Double) throws(RunLoopError) -> Duration {
    // Only within this range is there a duration: not for infinity, nor for what is not a number.
    guard seconds >= 0, seconds * nanosecondsPerSecond < Double(Int64.max) else { throw .invalidInterval(seconds) }
    return .seconds(seconds)
  }

  /// The nanoseconds of an interval that a timer may have.
  static func nanoseconds(of duration: Duration) throws(RunLoopError) -> Int64 {
    let nanoseconds = nanoseconds(duration)
    guard duration >= .zero, nanoseconds < .max else {
      let (seconds, attoseconds) = duration.components
      throw .invalidInterval(Double(seconds) + Double(attoseconds) / 1e18)
    }
    return nanoseconds
  }

  static func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / nanosecondsPerSecond }

  /// Nanoseconds from one date to another, to the nanosecond: whole seconds and the rest are converted apart, because their
  /// sum as a `Double` knows a present date only to a quarter of a microsecond.
  ///
  /// - Returns: `never` for what is too far in the future, `longAgo` for what is too far in the past or not a number.
  static func nanoseconds(from origin: Date, to date: Date) -> Int64 {
    let (zero, seconds) = (origin.timeIntervalSinceReferenceDate, date.timeIntervalSinceReferenceDate)
    if seconds.isNaN || zero.isNaN { return .longAgo }
    // More than 292 years, with a margin for the rest.
    let limit = 9.3e9
    let (wholeZero, whole) = (zero.rounded(.down), seconds.rounded(.down))
    let difference = whole - wholeZero
    if difference >= limit { return never }
    if difference <= -limit { return .longAgo }
    let rest = ((seconds - whole) - (zero - wholeZero)) * nanosecondsPerSecond
    let (scaled, overflow) = Int64(difference).multipliedReportingOverflow(by: wholeSecond)
    if overflow { return difference > 0 ? never : .longAgo }
    return max(add(scaled, Int64(rest.rounded())), .longAgo)
  }

  /// The date that many nanoseconds after another; the reverse of ``nanoseconds(from:to:)``.
  static func date(_ nanoseconds: Int64, after origin: Date) -> Date {
    if nanoseconds == never { return .distantFuture }
    if nanoseconds <= .longAgo { return .distantPast }
    let zero = origin.timeIntervalSinceReferenceDate
    let wholeZero = zero.rounded(.down)
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: wholeSecond)
    return Date(
      timeIntervalSinceReferenceDate: (wholeZero + Double(whole)) + ((zero - wholeZero) + seconds(rest)))
  }
}
#endif
