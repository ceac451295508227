import Undead
import XCTest

/// The line of an assertion in the source of a test.
struct Site: AssertionSite {
  let file: StaticString
  let line: UInt
  var message = ""

  var place: String { "\(file):\(line)" }
  var comment: String { message }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    switch outcome {
    case .failure: XCTFail(text, file: file, line: line)
    case .warning, .note: StandardError.write("\(place): \(outcome.rawValue): \(text)\n")
    }
  }
}

extension XCTest {
  /// Says that a test or class was not checked.
  func skipLeakCheck(_ reason: String) {
    let text = "\(name) was not checked for leaks: \(reason)"
    if Availability.isRequired { return XCTFail(text + " (and UNDEAD_REQUIRE is set)") }
    guard Availability.isFirstSkip(at: name, reason) else { return }
    let remainder = Availability.isOfPlatform(reason) ? " (\(Availability.remainder))" : ""
    StandardError.write("note: \(text)\(remainder)\n")
  }
}
