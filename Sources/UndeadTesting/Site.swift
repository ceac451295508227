import Testing
import Undead
import UndeadReport

/// The place of an assertion in the source of a test.
struct Site: AssertionSite {
  let location: SourceLocation
  var comment = ""

  init(location: SourceLocation, comment: Comment? = nil) {
    self.location = location
    self.comment = comment?.rawValue ?? ""
  }

  var place: String { "\(path):\(location.line):\(location.column)" }

  static var isToldAtProcessEnd: Bool { !isOutsideOfTests }

  static var hasTestsBeside: Bool { !isOutsideOfTests && !CommandLine.arguments.contains("--no-parallel") }

  /// True where a test of XCTest may run: a file that imports both libraries calls the functions of this one.
  private static var isOutsideOfTests: Bool { Test.current == nil && OtherTestLibrary.isLinked }

  var scopeName: String { "\(Test.current?.name ?? "assertNoLeaks"):\(location.line)" }

  func record(_ outcome: AssertionOutcome, _ text: String) {
    switch outcome {
    case .failure:
      // Whichever library runs a test hears of it: outside of tests the other one drops it, and this one knows no test.
      if Self.isOutsideOfTests { OtherTestLibrary.fail(text, file: path, line: location.line) }
      Issue.record(Comment(rawValue: text), sourceLocation: location)
    case .warning, .note:
      if Self.isOutsideOfTests { return StandardError.write("\(place): \(outcome.rawValue): \(text)\n") }
      warn(text)
    }
  }

  func attach(_ report: LeakReport) {
    var options = ReportTextOptions()
    options.directory = Self.directory
    // A file has room for all of them.
    options.top = .max
    Attachment.record(TextRenderer.render(report, options: options), named: "leaks.txt", sourceLocation: location)
  }

  private func warn(_ text: String) {
    #if compiler(>=6.3)
      Issue.record(Comment(rawValue: text), severity: .warning, sourceLocation: location)
    #else
      // Issues had no severity before.
      StandardError.write("\(place): warning: \(text)\n")
    #endif
  }

  private var path: String {
    #if compiler(>=6.3)
      location.filePath
    #else
      location._filePath
    #endif
  }
}
