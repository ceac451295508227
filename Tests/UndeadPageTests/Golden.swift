import Foundation
import Testing

/// Whole texts that pages must have, each in a file of the folder `Golden`.
enum Golden {
  /// Compares with a file; with UNDEAD_WRITE_GOLDEN=1 the file is written instead, to be looked at before a commit.
  static func expect(_ text: String, _ name: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
    let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Golden/\(name)")
    if ProcessInfo.processInfo.environment["UNDEAD_WRITE_GOLDEN"] != nil {
      try Data(text.utf8).write(to: file)
      return
    }
    let expected = try String(contentsOf: file, encoding: .utf8)
    guard text != expected else { return }
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let others = expected.split(separator: "\n", omittingEmptySubsequences: false)
    let number = zip(lines, others).prefix { $0 == $1 }.count
    Issue.record(
      """
      \(name), line \(number + 1)
      is:        \(number < lines.count ? lines[number] : "(end)")
      should be: \(number < others.count ? others[number] : "(end)")
      """, sourceLocation: sourceLocation)
  }

  /// A page without its style sheet and scripts, which have files of their own.
  static func content(_ page: String) -> String {
    var text = page
    for name in ["style", "script"] {
      var result = ""
      var rest = text[...]
      while let start = rest.firstRange(of: "<\(name)"), let end = rest.firstRange(of: "</\(name)>") {
        result += rest[..<start.lowerBound] + "<\(name)/>"
        rest = rest[end.upperBound...]
      }
      text = result + rest
    }
    return text
  }
}
