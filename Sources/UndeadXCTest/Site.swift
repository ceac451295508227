import Foundation
import Undead
import UndeadReport
import XCTest

/// The place of an assertion in the source of a test, and what can be said there.
struct Site: Sendable {
  let file: StaticString
  let line: UInt
  var message = ""

  /// Fails the running test here.
  func fail(_ text: String) {
    XCTFail(text + suffix, file: file, line: line)
  }

  /// Tells the findings of a check: a leak fails the running test, a suspect is a warning.
  func tell(_ report: LeakReport) {
    for leak in report.leaks { fail(FailureText.text(leak, directory: Self.directory)) }
    warn(of: report.suspects)
  }

  func warn(of suspects: [Suspect]) {
    for suspect in suspects { say("warning", FailureText.text(suspect, directory: Self.directory)) }
  }

  /// Says that something was not checked, once at each place; fails the test if checks are required.
  func skip(_ reason: String) {
    let text = "not checked for leaks: \(reason)"
    if Availability.isRequired { return fail(text + " (and UNDEAD_REQUIRE is set)") }
    if Availability.isFirstSkip(at: "\(file):\(line)") { say("note", text) }
  }

  /// Says something that fails nothing, in the form of a compiler's message, which editors and CI systems know.
  func say(_ kind: String, _ text: String) {
    Output.write("\(file):\(line): \(kind): \(text)\(suffix)\n")
  }

  /// What paths are shown relative to: SwiftPM starts tests in the directory of the package.
  static var directory: String { FileManager.default.currentDirectoryPath }

  private var suffix: String { message.isEmpty ? "" : "\n  message    \(message)" }
}

/// What has no place in the source of a test.
enum Output {
  /// Says that a test or class was not checked.
  static func skip(_ test: XCTest, _ reason: String) {
    let text = "\(test.name) was not checked for leaks: \(reason)"
    if Availability.isRequired { return XCTFail(text + " (and UNDEAD_REQUIRE is set)") }
    if Availability.isFirstSkip(at: test.name) { write("note: \(text)\n") }
  }

  /// Standard error: what the test prints itself stays as it is.
  static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
