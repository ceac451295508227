#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Points in time as text.
package enum Timestamp {
  /// ISO 8601 in UTC, to the millisecond, from decimal seconds since 1970; empty if that is no number.
  package static func text(secondsSince1970 text: String) -> String {
    // Far beyond any clock.
    guard let seconds = Double(text), abs(seconds) < 1e11 else { return "" }
    // Fractions are cut off, not rounded: a little more than the millisecond, which hardly any number is exactly.
    let date = Date(timeIntervalSince1970: ((seconds * 1000).rounded() + 0.25) / 1000)
    return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
  }
}
