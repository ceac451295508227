import Foundation
import Testing
import Undead
import UndeadReport

/// The place of an assertion in the source of a test, and what can be said there.
struct Site: Sendable {
  let location: SourceLocation
  var comment: Comment?

  /// Records a failure here.
  func fail(_ text: String) {
    Issue.record(Comment(rawValue: text + suffix), sourceLocation: location)
  }

  /// Records something that fails no test.
  func warn(_ text: String) {
    #if compiler(>=6.3)
      Issue.record(Comment(rawValue: text + suffix), severity: .warning, sourceLocation: location)
    #else
      // Issues had no severity before.
      Output.write("\(place): warning: \(text)\(suffix)\n")
    #endif
  }

  /// Tells the findings of a check, with the whole report as an attachment: leaks are failures, suspects warnings.
  func tell(_ report: LeakReport) {
    for leak in report.leaks { fail(FailureText.text(leak, directory: Self.directory)) }
    tellSuspects(of: report)
    if !report.leaks.isEmpty || !report.suspects.isEmpty { attach(report) }
  }

  func tellSuspects(of report: LeakReport) {
    for suspect in report.suspects { warn(FailureText.text(suspect, directory: Self.directory)) }
  }

  func attach(_ report: LeakReport) {
    var options = TextOptions()
    options.directory = Self.directory
    Attachment.record(TextRenderer.render(report, options: options), named: "leaks.txt", sourceLocation: location)
  }

  /// Says that something was not checked, once at each place; a failure if checks are required.
  func skip(_ reason: String) {
    let text = "not checked for leaks: \(reason)"
    if Availability.isRequired { return fail(text + " (and UNDEAD_REQUIRE is set)") }
    if Availability.isFirstSkip(at: place) { warn(text) }
  }

  /// As compilers write it.
  var place: String { "\(path):\(location.line):\(location.column)" }

  private var path: String {
    #if compiler(>=6.3)
      location.filePath
    #else
      location._filePath
    #endif
  }

  /// What paths are shown relative to: SwiftPM starts tests in the directory of the package.
  static var directory: String { FileManager.default.currentDirectoryPath }

  private var suffix: String { comment.map { "\n  message    \($0.rawValue)" } ?? "" }
}

enum Output {
  /// Standard error: what tests print themselves stays as it is.
  static func write(_ text: String) {
    FileHandle.standardError.write(Data(text.utf8))
  }
}
