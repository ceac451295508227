import Glibc
import UndeadReport

/// The summary of a step of GitHub Actions, which stands on the page of the run.
enum StepSummary {
  private static let variable = "GITHUB_STEP_SUMMARY"
  /// GitHub shows no summary of a step that is larger than this.
  private static let limit = 1 << 20

  /// Appends a report to the file that GitHub names; nothing elsewhere. Nobody asked for it, so that a problem is only said.
  ///
  /// - Parameter files: those that reports go to anyway.
  static func append(_ report: LeakReport, options: TextOptions, besides files: [String]) {
    guard let path = System.environment(variable), !files.contains(path) else { return }
    let text = Array(MarkdownRenderer.render(report, options: options).utf8)
    guard let problem = append(text, toFile: path) else { return }
    Message.say("the summary was not added to '\(path)' (\(variable)): \(problem)")
  }

  /// - Returns: what went wrong; nil if nothing did.
  private static func append(_ text: [UInt8], toFile path: String) -> String? {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0o666)
    guard descriptor >= 0 else { return System.reason() }
    defer { close(descriptor) }
    var status = stat()
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG, Int(status.st_size) + text.count > limit {
      return "GitHub shows no summary of more than 1 MiB"
    }
    return System.write(text, to: descriptor).map { System.reason($0) }
  }
}
