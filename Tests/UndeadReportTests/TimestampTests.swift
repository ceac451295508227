import Foundation
import Testing

@testable import UndeadReport

@Suite struct TimestampTests {
  @Test func isWhatFoundationSays() {
    // Ends of February in years with and without a leap day, and the last millisecond of a year.
    let special = [
      -1, -0.25, -951_782_400.001, 951_782_400, 951_868_799.9996, 4_107_542_400, 1_703_980_799.9994, 0, 1_700_000_000.5,
    ]
    for seconds in special + (0..<2000).map({ Double($0) * 1_234_567.891 }) {
      let date = Date(timeIntervalSince1970: ((seconds * 1000).rounded() + 0.25) / 1000)
      let expected = date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
      #expect(Timestamp.text(secondsSince1970: "\(seconds)") == expected)
    }
  }

  @Test(arguments: ["", "soon", "nan", "-1e11", "1e11"]) func isEmptyForNoTimeOfAClock(_ text: String) {
    #expect(Timestamp.text(secondsSince1970: text) == "")
  }
}
