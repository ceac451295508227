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

/// Called by UndeadTesting for what fails outside of its own tests: a file that imports both libraries calls the functions
/// of that one, in test cases of XCTest too. XCTest drops it if none runs.
@_cdecl("undead_record_in_xctest")
package func recordInXCTest(_ text: UnsafePointer<CChar>, _ file: UnsafePointer<CChar>, _ line: Int) {
  // XCTFail takes nothing but a StaticString, which is frozen: address, count, and no bit for a pointer to UTF-8. It copies it.
  let path = (UInt(bitPattern: file), UInt(String(cString: file).utf8.count), UInt8(0))
  XCTFail(String(cString: text), file: unsafeBitCast(path, to: StaticString.self), line: UInt(line))
}

extension XCTest {
  /// Says that a test or class was not checked.
  func skipLeakCheck(_ reason: String) {
    let text = "\(name) was not checked for leaks: \(reason)"
    let session = DetectionSession.process
    if session.environment.isRequired { return XCTFail(text + " (and UNDEAD_REQUIRE is set)") }
    guard session.isFirstSkip(at: name, reason) else { return }
    let remainder = Availability.isOfPlatform(reason) ? " (\(Availability.remainder))" : ""
    StandardError.write("note: \(text)\(remainder)\n")
  }
}
