#if canImport(Glibc)
  import Glibc
#elseif canImport(FoundationEssentials)
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
    return self.text(milliseconds: (seconds * 1000).rounded())
  }

  #if canImport(Glibc)
    // Foundation reads the local time zone and makes a calendar for it, which takes a tenth of a short run of the tool.
    private static func text(milliseconds: Double) -> String {
      let second = (milliseconds / 1000).rounded(.down)
      let rest = String(Int(milliseconds - second * 1000))
      var (time, parts) = (time_t(second), tm())
      gmtime_r(&time, &parts)
      let day = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
        strftime(buffer.baseAddress!, buffer.count, "%Y-%m-%dT%H:%M:%S", &parts) == 0
          ? "" : String(cString: buffer.baseAddress!)
      }
      return "\(day).\(String(repeating: "0", count: 3 - rest.utf8.count))\(rest)Z"
    }
  #else
    private static func text(milliseconds: Double) -> String {
      // Fractions are cut off, not rounded: a little more than the millisecond, which hardly any number is exactly.
      let date = Date(timeIntervalSince1970: (milliseconds + 0.25) / 1000)
      return date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    }
  #endif
}
