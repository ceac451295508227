/// A finding as the message of a failed test: the kind and type in the first line, then the path and the place of the
/// allocation, without the stack, so that a log of many failures can be read.
package enum FailureText {
  /// The message for a leak.
  ///
  /// - Parameter directory: files inside this directory are shown relative to it; empty: as the compiler recorded them.
  package static func text(_ leak: Leak, directory: String = "") -> String {
    text(LeakReport(leaks: [leak]), kind: "leak", directory: directory)
  }

  /// The message for a suspect; `directory` as for a leak.
  package static func text(_ suspect: Suspect, directory: String = "") -> String {
    text(LeakReport(suspects: [suspect]), kind: "suspect", directory: directory)
  }

  private static func text(_ report: LeakReport, kind: String, directory: String) -> String {
    var options = TextOptions(stacks: false)
    options.directory = directory
    // The last line is the summary; the first one counts findings, which a message about one need not.
    var lines = TextRenderer.render(report, options: options).split(separator: "\n").dropLast().map(String.init)
    let titleEnd = "1 of 1  "
    if let range = lines.first?.firstRange(of: titleEnd) { lines[0] = kind + ": " + lines[0][range.upperBound...] }
    return lines.joined(separator: "\n")
  }
}
