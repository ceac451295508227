/// Points in time as text.
public enum Timestamp {
  /// ISO 8601 in UTC, to the millisecond, from decimal seconds since 1970; empty if that is no number.
  public static func text(secondsSince1970 text: String) -> String {
    // Far beyond any clock, and safe to convert.
    guard let seconds = Double(text), abs(seconds) < 1e11 else { return "" }
    return Self.text(milliseconds: Int((seconds * 1000).rounded()))
  }

  private static func text(milliseconds: Int) -> String {
    let seconds = floorDivide(milliseconds, 1000)
    let days = floorDivide(seconds, 86400)
    let clock = seconds - days * 86400
    let (year, month, day) = civil(days: days)
    let date = "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))"
    let time = "\(pad(clock / 3600, 2)):\(pad(clock / 60 % 60, 2)):\(pad(clock % 60, 2))"
    return "\(date)T\(time).\(pad(milliseconds - seconds * 1000, 3))Z"
  }

  private static func floorDivide(_ a: Int, _ b: Int) -> Int {
    a >= 0 ? a / b : -((-a + b - 1) / b)
  }

  private static func pad(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The Gregorian date of a day since 1970 (Hinnant, "chrono-Compatible Low-Level Date Algorithms").
  private static func civil(days: Int) -> (year: Int, month: Int, day: Int) {
    let shifted = days + 719_468
    let era = floorDivide(shifted, 146_097)
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
  }
}
