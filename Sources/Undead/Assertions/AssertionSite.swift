import Foundation
import UndeadReport
import UndeadSystem

/// The place of an assertion in the source of a test, and how issues are reported there.
///
/// Each test library has its own; what assertions check and say is the same in all of them.
package protocol AssertionSite {
  /// The session that the assertion checks in; by default that of the process.
  var session: DetectionSession { get }
  /// The line, as compilers write it: editors and CI systems know that form.
  var place: String { get }
  /// What reports call a body that is checked here.
  var scopeName: String { get }
  /// Whether the end of the process says what a check here did not find. The library must have released what it
  /// keeps of its tests by then.
  static var isToldAtProcessEnd: Bool { get }
  /// True if tests that are not checked may run at the same time.
  static var hasTestsBeside: Bool { get }
  /// What the author of the test says about the assertion; may be empty.
  var comment: String { get }
  /// Reports to the test library, or in its output.
  func record(_ outcome: AssertionOutcome, _ text: String)
  /// Keeps the whole report of a check, where there is a place for it.
  func attach(_ report: LeakReport)
  /// Why nobody can say whether an object should be gone, which `leak` explains; nil if one can.
  func doubt(about object: TrackedObject, _ leak: Leak) -> String?
}

extension AssertionSite {
  package var session: DetectionSession { .process }
  package var scopeName: String { "assertNoLeaks" }
  package static var isToldAtProcessEnd: Bool { false }
  package static var hasTestsBeside: Bool { false }
  package var comment: String { "" }
  package func attach(_ report: LeakReport) {}
  package func doubt(about object: TrackedObject, _ leak: Leak) -> String? { nil }
}

extension AssertionSite {
  /// What paths are shown relative to: SwiftPM starts tests in the directory of the package.
  package static var directory: String { FileManager.default.currentDirectoryPath }

  package func fail(_ text: String) {
    tell(.failure, text)
  }

  /// Tells the findings of a check: leaks are failures, suspects warnings.
  package func tell(_ report: LeakReport) {
    for leak in report.leaks { fail(FailureText.text(leak, directory: Self.directory)) }
    for suspect in report.suspects { tell(.warning, FailureText.text(suspect, directory: Self.directory)) }
    if !report.leaks.isEmpty || !report.suspects.isEmpty { attach(report) }
    if report.leaks.isEmpty, !report.summary.complete { tellThatItIsIncomplete(report) }
  }

  /// A check that did not see everything says nothing of leaks.
  private func tellThatItIsIncomplete(_ report: LeakReport) {
    skip(report.summary.premises?.leaksAreUnknown ?? report.summary.notes.first ?? "the check is incomplete")
  }

  /// Says that something was not checked, once at each place. A failure if checks are required, or if the runtime is not as
  /// expected: then no check here has an answer, and tests would stay green for good.
  package func skip(_ reason: String) {
    let text = "not checked for leaks: \(reason)"
    // The test library may be locked for good.
    if Availability.isForkedCopy { return session.environment.write("\(place): note: \(text)\n") }
    if session.environment.isRequired { return fail(text + " (and UNDEAD_REQUIRE is set)") }
    if reason.contains(LeakReport.Premises.noAnswer) { return fail(text) }
    guard session.isFirstSkip(at: place, reason) else { return }
    tell(.note, Availability.isOfPlatform(reason) ? "\(text) (\(Availability.remainder))" : text)
  }

  private func tell(_ outcome: AssertionOutcome, _ text: String) {
    // Logs of tests are read by terminals and by CI systems.
    record(outcome, VisibleText.lines(comment.isEmpty ? text : "\(text)\n  message    \(comment)"))
  }
}
