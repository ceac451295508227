import UndeadFormats
import UndeadReport
import UndeadSystem

/// The summary of a step of GitHub Actions, which stands on the page of the run.
enum StepSummary {
  private static let variable = "GITHUB_STEP_SUMMARY"
  /// GitHub shows no summary of a step that is larger than this.
  private static let limit = 1 << 20

  /// Appends a report to the file that GitHub names; nothing elsewhere. Nobody asked for it, so that a problem is only said.
  ///
  /// - Parameter files: those that reports go to anyway.
  static func append(_ report: LeakReport, options: ReportTextOptions, besides files: [String]) {
    guard let path = System.environment(variable), !files.contains(path) else { return }
    let text = Array(MarkdownRenderer.render(report, options: options).utf8)
    guard let code = FileReplacement.append(text, to: path, limit: limit) else { return }
    let problem = code == EFBIG ? "GitHub shows no summary of more than 1 MiB" : SystemError.text(code)
    Message.say("the summary was not added to '\(path)' (\(variable)): \(problem)")
  }
}
