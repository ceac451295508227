/// A finding as the message of a failed test: the kind and type in the first line, then the path and the place of the
/// allocation, without the stack, so that a log of many failures can be read.
package enum FailureText {
  /// The message for a leak.
  ///
  /// - Parameter directory: files inside this directory are shown relative to it; empty: as the compiler recorded them.
  package static func text(_ leak: Leak, directory: String = "") -> String {
    text(Finding(leak), "leak:", directory)
  }

  /// The message for a suspect; `directory` as for a leak.
  package static func text(_ suspect: Suspect, directory: String = "") -> String {
    text(Finding(suspect), "suspect:", directory)
  }

  /// The message for a use of a dead object; `directory` as for a leak.
  package static func text(_ zombie: Zombie, directory: String = "") -> String {
    text(Finding(zombie), "zombie:", directory)
  }

  private static func text(_ finding: Finding, _ title: TextLine, _ directory: String) -> String {
    var options = ReportTextOptions(stacks: false)
    options.directory = directory
    return FindingText.lines(finding, title: title, options).filter { !$0.isEmpty }.text(options, ending: false)
  }
}
