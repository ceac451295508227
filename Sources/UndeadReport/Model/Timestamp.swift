/// Points in time as text.
package enum Timestamp {
  /// ISO 8601 in UTC, to the millisecond, from decimal seconds since 1970; empty if that is no number.
  ///
  /// By hand: Foundation reads the local time zone and makes a calendar for it, which takes a tenth of a short run of the tool.
  package static func text(secondsSince1970 text: String) -> String {
    // Far beyond any clock.
    guard let seconds = Double(text), seconds >= 0, seconds < 1e11 else { return "" }
    let milliseconds = Int((seconds * 1000).rounded())
    let (days, inDay) = milliseconds.quotientAndRemainder(dividingBy: 86_400_000)
    let (year, month, dayOfMonth) = date(days)
    let day = "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
    let (hours, minutes, rest) = (inDay / 3_600_000, inDay / 60_000 % 60, inDay % 60_000)
    return "\(day)T\(padded(hours, 2)):\(padded(minutes, 2)):\(padded(rest / 1000, 2)).\(padded(rest % 1000, 3))Z"
  }

  private static func padded(_ number: Int, _ digits: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
  }

  /// The date of a day since 1970, in the Gregorian calendar. Years are counted from March, so that a leap day is the last.
  private static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let fromYear0 = days + 719_468
    let (era, inEra) = fromYear0.quotientAndRemainder(dividingBy: 146_097)
    let year = (inEra - inEra / 1460 + inEra / 36_524 - inEra / 146_096) / 365
    let inYear = inEra - (365 * year + year / 4 - year / 100)
    let fromMarch = (5 * inYear + 2) / 153
    let month = fromMarch < 10 ? fromMarch + 3 : fromMarch - 9
    return (era * 400 + year + (month <= 2 ? 1 : 0), month, inYear - (153 * fromMarch + 2) / 5 + 1)
  }
}
