/// Numbers, sizes and times as text: each has one form in all that is written.
package enum Quantity {
  /// "1 object", "12,345 objects".
  package static func of(_ count: Int, _ noun: String) -> String {
    "\(grouped(count)) \(noun)\(count == 1 ? "" : "s")"
  }

  /// "12,345".
  package static func grouped(_ number: Int) -> String {
    let digits = String(number.magnitude)
    var text = number < 0 ? "-" : ""
    for (position, digit) in digits.enumerated() {
      if position > 0, (digits.count - position).isMultiple(of: 3) { text.append(",") }
      text.append(digit)
    }
    return text
  }

  /// "320 bytes", "9.4 KB"; 1 KB is 1024 bytes.
  package static func bytes(_ count: Int) -> String {
    guard count.magnitude >= 1000 else { return of(count, "byte") }
    var amount = Double(count.magnitude) / 1024
    var units = ["KB", "MB", "GB", "TB"][...]
    while amount >= 999.95, units.count > 1 {
      amount /= 1024
      units.removeFirst()
    }
    return (count < 0 ? "-" : "") + "\(decimal(amount)) \(units[units.startIndex])"
  }

  /// The same for an amount that was computed.
  package static func bytes(_ count: Double) -> String {
    count.isNaN ? "an unknown size" : bytes(Int(min(max(count, -1e15), 1e15).rounded()))
  }

  /// "250 ms", "1.5 s", "1 min 30 s", "2 h 5 min".
  package static func duration(_ seconds: Double) -> String {
    guard seconds >= 0, seconds < 1e9 else { return "some time" }
    guard seconds >= 1 else { return "\(shortDecimal(seconds * 1000)) ms" }
    guard seconds >= 59.95 else { return "\(shortDecimal(seconds)) s" }
    let whole = Int(seconds.rounded())
    let (hours, minutes, rest) = (whole / 3600, whole / 60 % 60, whole % 60)
    let parts = hours > 0 ? [(hours, "h"), (minutes, "min")] : [(minutes, "min"), (rest, "s")]
    return parts.filter { $0.0 > 0 }.map { "\(grouped($0.0)) \($0.1)" }.joined(separator: " ")
  }

  /// "12.0", with one digit behind the point.
  ///
  /// Foundation's formatting would bring its tables of all languages into the process.
  package static func decimal(_ number: Double) -> String {
    let tenths = Int((min(max(number, 0), 1e15) * 10).rounded())
    return "\(grouped(tenths / 10)).\(tenths % 10)"
  }

  /// A column of numbers: blanks in front of the text, up to a width.
  package static func right(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  private static func shortDecimal(_ number: Double) -> String {
    let text = decimal(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
